"""Parse, validate and execute a query; errors come back in the body with status 200, as GitHub sends them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from graphql import GraphQLError, GraphQLSchema, build_schema, graphql_sync

from simulator.errors import ApiError
from simulator.graphql.mutations import mutations
from simulator.graphql.queries import queries
from simulator.graphql.viewpoint import Gate, Viewpoint

if TYPE_CHECKING:
    from simulator.auth.tokens import InstallationToken
    from simulator.platform import Platform

_KNOWN_FIELDS = {"query", "variables", "operationName"}


class GraphQL:
    """Answers GraphQL requests."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def execute(self, asked: dict[str, object], token: InstallationToken, gate: Gate) -> tuple[dict[str, object], list[str]]:
        """The answer's body, and what was wrong with the query itself (an unknown field, a missing argument).

        Raises:
            ApiError: 400, the request holds no query or fields that GraphQL requests do not have.

        """
        unknown = set(asked) - _KNOWN_FIELDS
        query, variables = asked.get("query"), asked.get("variables") or {}
        if unknown or not isinstance(query, str) or not isinstance(variables, dict):
            raise ApiError(400, "A query attribute must be specified and must be a string.", [f"unknown: {sorted(unknown)}"])
        operation = asked.get("operationName")
        viewpoint = Viewpoint(self._platform, token, gate)
        result = graphql_sync(
            schema(),
            query,
            root_value={**queries(viewpoint), **mutations(viewpoint)},
            variable_values=variables,
            operation_name=str(operation) if operation else None,
        )
        for error in result.errors or []:
            if error.original_error is not None and not isinstance(error.original_error, GraphQLError):
                raise error.original_error
        body: dict[str, object] = {}
        if result.data is not None or _was_executed(result.errors):
            body["data"] = result.data
        if result.errors:
            body["errors"] = [_shown(error) for error in result.errors]
        return body, [error.message for error in result.errors or [] if not (error.extensions or {}).get("type")]


@cache
def schema() -> GraphQLSchema:
    """The schema, compiled."""
    return build_schema(resources.files("simulator.graphql").joinpath("schema.graphql").read_text(encoding="utf-8"))


def _was_executed(errors: list[GraphQLError] | None) -> bool:
    return any(error.path for error in errors or [])


def _shown(error: GraphQLError) -> dict[str, object]:
    shown: dict[str, object] = dict(error.formatted)
    kind = (error.extensions or {}).get("type")
    shown.pop("extensions", None)
    return {"type": kind, **shown} if kind else shown
