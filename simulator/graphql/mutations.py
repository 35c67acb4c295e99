"""The mutations: resolve threads, hide comments, commit to a branch."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.branches import branch_moved, write_files
from simulator.graphql.connections import Object
from simulator.graphql.git_objects import commit, reference
from simulator.graphql.pulls import thread
from simulator.graphql.queries import find_node
from simulator.graphql.viewpoint import refused
from simulator.ids import node_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.conversation import ReviewComment
    from simulator.graphql.viewpoint import Viewpoint
    from simulator.pull_request import PullRequest

    Mutation = Callable[..., Object]


def mutations(viewpoint: Viewpoint) -> Object:
    """The root of a mutation, as resolvers by field name."""
    return {
        "resolveReviewThread": _resolving(viewpoint, resolved=True),
        "unresolveReviewThread": _resolving(viewpoint, resolved=False),
        "minimizeComment": _minimizing(viewpoint, "minimizedComment"),
        "unminimizeComment": _minimizing(viewpoint, "unminimizedComment"),
        "createCommitOnBranch": _committing(viewpoint),
    }


def _resolving(viewpoint: Viewpoint, *, resolved: bool) -> Mutation:
    def mutate(_info: object, **arguments: dict[str, str]) -> Object:
        viewpoint.require("pull_requests", "write")
        pull, opener = _thread(viewpoint, arguments["input"]["threadId"])
        if resolved:
            pull.resolved_threads[opener.id] = viewpoint.platform.app.bot
        else:
            pull.resolved_threads.pop(opener.id, None)
        return {**_echo(arguments["input"]), "thread": thread(pull, opener)}

    return mutate


def _minimizing(viewpoint: Viewpoint, field: str) -> Mutation:
    def mutate(_info: object, **arguments: dict[str, str]) -> Object:
        viewpoint.require("pull_requests", "write")
        wanted = arguments["input"]["subjectId"]
        classifier = arguments["input"].get("classifier")
        reason = None if classifier is None else classifier.lower().replace("_", "-")
        for one in viewpoint.repositories():
            for pull in one.pulls.values():
                _minimize(pull, wanted, reason)
        return {**_echo(arguments["input"]), field: find_node(viewpoint, wanted)}

    return mutate


def _minimize(pull: PullRequest, wanted: str, reason: str | None) -> None:
    for comment in pull.comments:
        if node_id("IC", comment.id) == wanted:
            pull.comment_table[comment.id] = replace(comment, minimized=reason)
    for review in pull.reviews:
        if node_id("PRR", review.id) == wanted:
            pull.review_table[review.id] = replace(review, minimized=reason)
    for note in pull.review_comments:
        if node_id("PRRC", note.id) == wanted:
            pull.review_comment_table[note.id] = replace(note, minimized=reason)


def _committing(viewpoint: Viewpoint) -> Mutation:
    def mutate(_info: object, **arguments: Object) -> Object:
        viewpoint.require("contents", "write")
        given = arguments["input"]
        branch, changes, message = (_part(given, name) for name in ("branch", "fileChanges", "message"))
        one = viewpoint.repository(str(branch.get("repositoryNameWithOwner")))
        name = str(branch.get("branchName")).removeprefix("refs/heads/")
        head = one.git.resolve(f"refs/heads/{name}")
        if head != given["expectedHeadOid"]:
            expected = given["expectedHeadOid"]
            raise refused("STALE_DATA", f'Expected branch to point to "{expected}" but it did not. Pull and try again.')
        files: dict[str, bytes | None] = {path["path"]: None for path in _rows(changes, "deletions")}
        files |= {row["path"]: base64.b64decode(row["contents"]) for row in _rows(changes, "additions")}
        text = "\n\n".join(str(message[part]) for part in ("headline", "body") if message.get(part))
        bot = viewpoint.platform.app.bot
        sha = write_files(one, name, files, text, bot, parent=head)
        branch_moved(one, name, head, sha, bot)
        return {**_echo(given), "commit": commit(one, sha), "ref": reference(one, f"refs/heads/{name}")}

    return mutate


def _thread(viewpoint: Viewpoint, wanted: str) -> tuple[PullRequest, ReviewComment]:
    for one in viewpoint.repositories():
        for pull in one.pulls.values():
            for comment in pull.review_comments:
                if node_id("PRRT", comment.id) == wanted and comment.in_reply_to is None:
                    return pull, comment
    raise refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'")


def _part(given: Object, name: str) -> Object:
    part = given.get(name)
    return part if isinstance(part, dict) else {}


def _rows(changes: Object, name: str) -> list[dict[str, str]]:
    rows = changes.get(name)
    return rows if isinstance(rows, list) else []


def _echo(given: Object | dict[str, str]) -> Object:
    return {"clientMutationId": given.get("clientMutationId")}
