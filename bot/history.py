"""What jobs leave in the database: read where another tidies up after them, removed with the repositories that it is about."""

from __future__ import annotations

from collections.abc import Iterable

from dbos import DBOS


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
