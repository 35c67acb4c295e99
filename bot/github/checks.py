"""The check run: found by its external id or created, completed once, its annotations appended once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.github.client import Client
from bot.review import limits
from bot.review.action import Action
from bot.review.annotation import Annotation, batches
from bot.review.check_run import CheckOutput

NAME = "Preflight"


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run of ours; ``annotations`` were already sent."""

    id: int
    completed: bool
    annotations: int


async def find_check(client: Client, app_id: int, head: str, external_id: str) -> CheckRun | None:
    """Our check run on ``head`` with that external id."""
    return next((_check_run(run) for run in await _runs(client, app_id, head) if run["external_id"] == external_id), None)


async def external_ids(client: Client, app_id: int, head: str) -> tuple[str, ...]:
    """The external ids of all our check runs on ``head``."""
    return tuple(run["external_id"] for run in await _runs(client, app_id, head))


async def begin_check(client: Client, app_id: int, head: str, external_id: str) -> CheckRun:
    """The check run, in progress; one that is there is taken as it is."""
    found = await find_check(client, app_id, head, external_id)
    if found is not None:
        return found
    run = {"name": NAME, "head_sha": head, "external_id": external_id, "status": "in_progress"}
    output = {"title": "Reading the change", "summary": "The training code of base and head is being read. Nothing of it is run."}
    return _check_run(await client.write("POST", "{repo}/check-runs", run | {"output": output}))


async def complete_check(client: Client, run: CheckRun, output: CheckOutput, annotations: Sequence[Annotation] = (), *, actions: Sequence[Action] = ()) -> None:
    """Send what is left of ``annotations``, then complete the run with its buttons. GitHub appends annotations: those it has are not sent again."""
    if run.completed:
        return
    path = f"{{repo}}/check-runs/{run.id}"
    text = {"title": output.title, "summary": output.summary}
    remaining = list(batches(annotations, run.annotations))
    for batch in remaining[:-1]:
        listed = [annotation.to_json() for annotation in batch.annotations]
        await client.write("PATCH", path, {"output": text | {"annotations": listed}})
    last = [annotation.to_json() for batch in remaining[-1:] for annotation in batch.annotations]
    buttons = [action.to_json() for action in actions]
    final = {"status": "completed", "conclusion": output.conclusion, "output": text | {"annotations": last}, "actions": buttons}
    await client.write("PATCH", path, final)


def annotations_beyond(count: int) -> int:
    """How many of ``count`` findings are not annotated: a check takes a limited number."""
    return max(0, count - limits.ANNOTATIONS_PER_CHECK)


async def _runs(client: Client, app_id: int, head: str) -> list[dict[str, Any]]:
    return await client.pages(f"{{repo}}/commits/{head}/check-runs", "check_runs", check_name=NAME, app_id=str(app_id), filter="all")


def _check_run(run: dict[str, Any]) -> CheckRun:
    return CheckRun(run["id"], run["status"] == "completed", run["output"]["annotations_count"])
