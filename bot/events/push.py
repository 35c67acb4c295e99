"""``push`` to the default branch: its state goes to code scanning, and its files are at hand for the next pull request."""

from __future__ import annotations

from bot.events.payload import Ignored, read, repository_facts
from bot.job import Job, Json

EVENT = "push"


def job(delivery: str, payload: Json) -> Job | Ignored:
    """A look at the new tip; an older one that still waits is pointless then."""
    reference, default = read(payload, "ref", str), read(payload, "repository.default_branch", str)
    if reference != f"refs/heads/{default}":
        return Ignored("the push is not to the default branch")
    if read(payload, "deleted", bool):
        return Ignored("the branch was deleted")
    facts = repository_facts(payload) | {"ref": reference, "head": read(payload, "after", str), "delivery": delivery}
    return Job("scan", f"{facts['repository']}/{reference}", facts["installation"], delivery, facts, replaces=True)
