"""What jobs leave in the database: whether one was replaced, what it looked at, and how all of it goes with the repositories that it is about."""

from __future__ import annotations

from collections.abc import Iterable

from dbos import DBOS

#: How the engine calls a job that waits or runs.
ACTIVE = ("PENDING", "ENQUEUED", "DELAYED")


class ReplacedJobError(Exception):
    """A newer job does what this one was to do."""


async def is_replaced() -> bool:
    """Whether the job whose step asks this was replaced meanwhile."""
    found = await DBOS.get_workflow_status_async(DBOS.workflow_id or "")
    return found is not None and found.status == "CANCELLED"


async def require_wanted() -> None:
    """Raise ReplacedJobError where the job whose step asks this was replaced: whoever tidies up after it would not see what it begins now."""
    if await is_replaced():
        raise ReplacedJobError


async def end(job: str) -> bool:
    """Have the job named ``job`` (an id of the engine) go no further; False where it had ended or was told so before."""
    found = await DBOS.get_workflow_status_async(job)
    if found is None or found.status not in ACTIVE:
        return False
    await DBOS.cancel_workflows_async([job], cancel_children=True)
    return True


async def heads_of(job: str) -> set[str]:
    """The commits that the job named ``job`` (an id of the engine) has looked at, from the outcomes of its steps."""
    steps = await DBOS.list_workflow_steps_async(job)
    outcomes = [step["output"] for step in steps if isinstance(step["output"], dict)]
    states = [outcome.get("state") or {} for outcome in outcomes]
    return {state["head"] for state in states if "head" in state}


async def erase(kinds: Iterable[str], repositories: Iterable[int]) -> int:
    """Cancel and delete all jobs of ``kinds`` about ``repositories`` (ids), their steps and results included; gives how many."""
    erased = 0
    for repository in repositories:
        for kind in kinds:
            found = await DBOS.list_workflows_async(workflow_id_prefix=f"{kind}/{repository}/", load_input=False, load_output=False)
            ids = [each.workflow_id for each in found]
            if ids:
                await DBOS.cancel_workflows_async(ids)
                await DBOS.delete_workflows_async(ids)
                erased += len(ids)
    return erased
