"""References: read, make, move and remove them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from simulator.branches import branch_moved
from simulator.errors import not_found, unprocessable
from simulator.http.exchange import Answer, Call
from simulator.representation.accounts import Json
from simulator.representation.repositories import api_url
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.repository import Repository

_BRANCH = "refs/heads/"
_MIN_PARTS = 3


@answers("git/get-ref")
def get_reference(call: Call) -> Answer:
    """One reference; the path leaves out `refs/`."""
    reference = f"refs/{call.text('ref')}"
    sha = call.repository.git.resolve(reference)
    if sha is None:
        raise not_found()
    return Answer(_reference_json(call.repository, reference, sha))


@answers("git/create-ref")
def create_reference(call: Call) -> Answer:
    """Make a reference; its name must be complete."""
    reference, sha = str(call.body["ref"]), str(call.body["sha"])
    store = call.repository.git
    if not reference.startswith("refs/") or len(reference.split("/")) < _MIN_PARTS:
        raise unprocessable("Reference name must start with 'refs' and contain at least two slashes")
    if store.resolve(reference) is not None:
        raise unprocessable("Reference already exists")
    if store.resolve(sha) is None:
        raise unprocessable("Object does not exist")
    _move(call, reference, None, sha)
    return Answer(_reference_json(call.repository, reference, sha), 201)


@answers("git/update-ref")
def update_reference(call: Call) -> Answer:
    """Move a reference; without `force` only forwards."""
    reference, sha = f"refs/{call.text('ref')}", str(call.body["sha"])
    store = call.repository.git
    before = store.resolve(reference)
    if before is None:
        raise unprocessable("Reference does not exist")
    if store.resolve(sha) is None:
        raise unprocessable("Object does not exist")
    if not call.body.get("force") and not store.is_ancestor(before, sha):
        raise unprocessable("Update is not a fast forward")
    _move(call, reference, before, sha)
    return Answer(_reference_json(call.repository, reference, sha))


@answers("git/delete-ref")
def delete_reference(call: Call) -> Answer:
    """Remove a reference."""
    reference = f"refs/{call.text('ref')}"
    if call.repository.git.resolve(reference) is None:
        raise unprocessable("Reference does not exist")
    call.repository.git.delete_reference(reference)
    return Answer(status=204)


def _move(call: Call, reference: str, before: str | None, after: str) -> None:
    call.repository.git.set_reference(reference, after)
    if reference.startswith(_BRANCH):
        branch_moved(call.repository, reference.removeprefix(_BRANCH), before, after, call.bot)


def _reference_json(repository: Repository, reference: str, sha: str) -> Json:
    url = api_url(repository)
    target = {"type": "commit", "sha": sha, "url": f"{url}/git/commits/{sha}"}
    return {"ref": reference, "node_id": f"REF_{sha}", "url": f"{url}/git/{quote(reference)}", "object": target}
