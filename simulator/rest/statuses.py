"""Commit statuses, the older kind of check."""

from __future__ import annotations

from simulator.checkruns import CommitStatus
from simulator.clock import iso
from simulator.errors import unprocessable
from simulator.http.exchange import Answer, Call
from simulator.ids import node_id
from simulator.representation.accounts import user_json
from simulator.representation.repositories import api_url
from simulator.rest.registry import answers


@answers("repos/create-commit-status")
def create_status(call: Call) -> Answer:
    """Set the status of a commit in one context."""
    repository, sha = call.repository, call.text("sha")
    if repository.git.resolve(sha) != sha:
        raise unprocessable(f"No commit found for SHA: {sha}")
    status = CommitStatus(
        id=call.platform.ids.next(),
        sha=sha,
        state=str(call.body["state"]),
        context=call.given("context") or "default",
        description=call.given("description"),
        target_url=call.given("target_url"),
        created_at=call.platform.clock.now(),
    )
    repository.statuses.append(status)
    creator = user_json(call.bot, call.platform.urls)
    return Answer(
        {
            "url": f"{api_url(repository)}/statuses/{sha}",
            "avatar_url": creator["avatar_url"],
            "id": status.id,
            "node_id": node_id("SC", status.id),
            "state": status.state,
            "description": status.description,
            "target_url": status.target_url,
            "context": status.context,
            "created_at": iso(status.created_at),
            "updated_at": iso(status.created_at),
            "creator": creator,
        },
        201,
    )
