"""The fields of the root query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphql import GraphQLError

from simulator.clock import iso
from simulator.graphql.connections import Object, connection
from simulator.graphql.git_objects import git_object, reference
from simulator.graphql.pulls import actor, issue_comment, pull_request, review, review_comment, thread
from simulator.graphql.viewpoint import refused
from simulator.ids import node_id
from simulator.representation.repositories import web_url

if TYPE_CHECKING:
    from simulator.graphql.viewpoint import Viewpoint
    from simulator.pull_request import PullRequest
    from simulator.repository import Repository


def queries(viewpoint: Viewpoint) -> Object:
    """The root of a query, as resolvers by field name."""

    def repository_field(_info: object, owner: str, name: str, **_options: object) -> Object:
        return repository(viewpoint, viewpoint.repository(f"{owner}/{name}"))

    def node(_info: object, **arguments: str) -> Object:
        return find_node(viewpoint, arguments["id"])

    def nodes(_info: object, ids: list[str]) -> list[Object]:
        return [find_node(viewpoint, one) for one in ids]

    def rate_limit(_info: object, **_options: object) -> Object:
        state = viewpoint.gate.rates.state(str(viewpoint.token.installation_id), "graphql")
        reset = iso(viewpoint.platform.clock.now())
        return {"cost": 1, "nodeCount": 0, **{name: state[name] for name in ("limit", "remaining", "used")}, "resetAt": reset}

    return {
        "repository": repository_field,
        "node": node,
        "nodes": nodes,
        "rateLimit": rate_limit,
        "viewer": {**actor(viewpoint.platform.app.bot), "login": viewpoint.platform.app.bot.login},
    }


def repository(viewpoint: Viewpoint, one: Repository) -> Object:
    """A repository with the fields that look into it."""

    def object_field(_info: object, expression: str | None = None, oid: str | None = None) -> Object | None:
        viewpoint.require("contents", "read")
        if (expression is None) == (oid is None):
            raise GraphQLError("Exactly one of `expression` and `oid` must be given to find an object.")
        return git_object(one, expression or oid or "")

    def ref(_info: object, **arguments: str) -> Object | None:
        viewpoint.require("contents", "read")
        name = arguments["qualifiedName"]
        return reference(one, name if name.startswith("refs/") else f"refs/heads/{name}")

    def pull_field(_info: object, number: int) -> Object:
        viewpoint.require("pull_requests", "read")
        pull = one.pulls.get(number)
        if pull is None:
            raise refused("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}.")
        return pull_request(pull, repository(viewpoint, pull.head_repository))

    def pulls(info: object, **options: object) -> Object:
        viewpoint.require("pull_requests", "read")
        found = [pull for pull in one.pulls.values() if _wanted(pull, options)]
        page = connection("pullRequests", found, lambda pull: pull_request(pull, repository(viewpoint, pull.head_repository)))
        return page(info, **options)

    return {
        "__typename": "Repository",
        "id": node_id("R", one.id),
        "databaseId": one.id,
        "name": one.name,
        "nameWithOwner": one.full_name,
        "owner": actor(one.owner),
        "isPrivate": one.private,
        "isFork": one.parent is not None,
        "url": web_url(one),
        "defaultBranchRef": lambda _info: reference(one, f"refs/heads/{one.default_branch}"),
        "object": object_field,
        "ref": ref,
        "pullRequest": pull_field,
        "pullRequests": pulls,
    }


def find_node(viewpoint: Viewpoint, wanted: str) -> Object:
    """The object with a global id, among those that the token reaches.

    Raises:
        GraphQLError: NOT_FOUND, there is none.

    """
    for one in viewpoint.repositories():
        if node_id("R", one.id) == wanted:
            return repository(viewpoint, one)
        for pull in one.pulls.values():
            found = _said_on(pull, wanted)
            if node_id("PR", pull.id) == wanted:
                found = pull_request(pull, repository(viewpoint, pull.head_repository))
            if found is not None:
                viewpoint.require("pull_requests", "read")
                return found
    raise refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'")


def _said_on(pull: PullRequest, wanted: str) -> Object | None:
    for comment in pull.comments:
        if node_id("IC", comment.id) == wanted:
            return issue_comment(pull, comment)
    for one in pull.reviews:
        if node_id("PRR", one.id) == wanted:
            return review(pull, one)
    for note in pull.review_comments:
        if node_id("PRRC", note.id) == wanted:
            return review_comment(pull, note)
        if node_id("PRRT", note.id) == wanted and note.in_reply_to is None:
            return thread(pull, note)
    return None


def _wanted(pull: PullRequest, options: dict[str, object]) -> bool:
    state = "MERGED" if pull.merged else pull.state.upper()
    states = options.get("states")
    return (
        (not isinstance(states, list) or state in states)
        and options.get("headRefName") in (None, pull.head_branch)
        and options.get("baseRefName") in (None, pull.base_branch)
    )
