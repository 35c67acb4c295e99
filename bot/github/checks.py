"""The check run: found by its external id or created, completed once, its annotations sent once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.github.client import Client
from bot.job import Json
from bot.review import limits
from bot.review.action import Action
from bot.review.annotation import Annotation, Batch, batches
from bot.review.check_run import UNFINISHED, CheckOutput

NAME = "Preflight"
_READING = "The training code of base and head is read as soon as it is this change's turn. Nothing of it is run."


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run of ours; ``annotations`` were already sent.

    ``settled``: completed with a result. One that is ``completed`` and only says that we could not finish may still get its result.
    """

    id: int
    external_id: str
    completed: bool
    settled: bool
    annotations: int
    title: str
    summary: str


async def find_check(client: Client, app_id: int, head: str, external_id: str) -> CheckRun | None:
    """Our check run on ``head`` with that external id."""
    return next((_check_run(run) for run in await _runs(client, app_id, head) if run["external_id"] == external_id), None)


async def external_ids(client: Client, app_id: int, head: str) -> tuple[str, ...]:
    """The external ids of all our check runs on ``head``."""
    return tuple(run["external_id"] for run in await _runs(client, app_id, head))


async def unsettled_checks(client: Client, app_id: int, head: str) -> list[CheckRun]:
    """Our check runs on ``head`` that have no result yet."""
    return [run for run in map(_check_run, await _runs(client, app_id, head)) if not run.settled]


async def begin_check(client: Client, app_id: int, head: str, external_id: str) -> CheckRun:
    """The check run, in progress; one that is there is taken as it is.

    It is the first that a reader sees, so it comes before a slot is free to read in.
    """
    found = await find_check(client, app_id, head, external_id)
    if found is not None:
        return found
    run = {"name": NAME, "head_sha": head, "external_id": external_id, "status": "in_progress"}
    output = {"title": "Reading the change", "summary": _READING}
    return _check_run(await client.write("POST", "{repo}/check-runs", run | {"output": output}))


async def complete_check(client: Client, run: CheckRun, output: CheckOutput, annotations: Sequence[Annotation] = (), *, actions: Sequence[Action] = ()) -> None:
    """Complete the run with its buttons and the first of ``annotations``, then send the rest. GitHub appends: those it has are not sent again."""
    text = {"title": output.title, "summary": output.summary}
    remaining = list(batches(annotations, run.annotations))
    if not run.settled:
        buttons = [action.to_json() for action in actions]
        completed = {"status": "completed", "conclusion": output.conclusion, "actions": buttons}
        await _update(client, run, completed | {"output": text | {"annotations": _listed(remaining[:1])}})
        remaining = remaining[1:]
    for batch in remaining:
        await _update(client, run, {"output": text | {"annotations": _listed([batch])}})


async def amend_check(client: Client, run: CheckRun, note: str) -> None:
    """Put ``note`` in front of what a completed run says, once."""
    if note not in run.summary:
        summary = limits.cut_markdown(f"{note}\n\n{run.summary}", limits.OUTPUT_CHARACTERS)
        await _update(client, run, {"output": {"title": run.title, "summary": summary}})


async def _update(client: Client, run: CheckRun, changes: Json) -> None:
    await client.write("PATCH", f"{{repo}}/check-runs/{run.id}", changes)


def _listed(sent: Iterable[Batch]) -> list[Json]:
    return [annotation.to_json() for batch in sent for annotation in batch.annotations]


async def _runs(client: Client, app_id: int, head: str) -> list[dict[str, Any]]:
    return await client.pages(f"{{repo}}/commits/{head}/check-runs", "check_runs", check_name=NAME, app_id=str(app_id), filter="all")


def _check_run(run: dict[str, Any]) -> CheckRun:
    output = run["output"]
    title = output["title"] or ""
    completed = run["status"] == "completed"
    settled = completed and title != UNFINISHED
    return CheckRun(run["id"], run["external_id"], completed, settled, output["annotations_count"], title, output["summary"] or "")
