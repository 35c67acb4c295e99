"""GraphQL: each document against GitHub's schema as graphql-core reads it, and its variables against their types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from graphql import GraphQLError, OperationDefinitionNode, build_schema, parse, validate
from graphql.execution.values import get_variable_values


def judged(bodies: Iterable[str], schema_file: Path) -> Iterator[str]:
    """A sentence for everything that GitHub's schema refuses in the ``bodies`` of requests."""
    # GitHub's own text defines some fields twice.
    schema = build_schema(schema_file.read_text(encoding="utf-8"), assume_valid_sdl=True, assume_valid=True)
    if not validate(schema, parse("{ viewer { shoeSize } }")):
        raise RuntimeError("graphql-core takes a field that GitHub does not have: its opinion is worth nothing")
    for body in bodies:
        asked: dict[str, Any] = json.loads(body)
        try:
            document = parse(asked["query"])
        except GraphQLError as error:
            yield f"GraphQL: {error.message}"
            continue
        yield from (f"GraphQL: {error.message}" for error in validate(schema, document))
        for definition in document.definitions:
            if isinstance(definition, OperationDefinitionNode):
                values = get_variable_values(schema, definition.variable_definitions or (), asked.get("variables") or {})
                if isinstance(values, list):
                    yield from (f"GraphQL variable: {error.message}" for error in values)
