"""What a check run becomes when a request makes or changes it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, cast

from simulator.checkruns import Annotation, CheckAction, CheckRun, CheckStatus
from simulator.suites import suite_for
from simulator.webhooks.events import check_run_event, check_suite_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.accounts import Account
    from simulator.repository import Repository

    Body = Mapping[str, object]


def create_run(repository: Repository, body: Body) -> CheckRun:
    """Store the run that a checked body describes; a suite is made for its commit when there is none."""
    platform = repository.platform
    sha = str(body["head_sha"])
    suite = suite_for(repository, sha)
    fresh = CheckRun(
        id=platform.ids.next(),
        suite_id=suite.id,
        head_sha=sha,
        name=str(body["name"]),
        status="queued",
        conclusion=None,
        started_at=platform.clock.now(),
        completed_at=None,
        details_url=None,
        external_id=None,
        title=None,
        summary=None,
        text=None,
        annotations=(),
        actions=(),
    )
    run = _changed(repository, fresh, body)
    repository.suites[suite.id] = replace(suite, requeued=False)
    check_run_event(repository, run, "created", platform.app.bot)
    if run.status == "completed":
        check_run_event(repository, run, "completed", platform.app.bot)
    return run


def update_run(repository: Repository, run: CheckRun, body: Body) -> CheckRun:
    """Change a run; its annotations are appended to, everything else that is given is replaced."""
    changed = _changed(repository, run, body)
    suite = repository.suites[run.suite_id]
    repository.suites[suite.id] = replace(suite, requeued=False)
    if changed.status == "completed" and run.status != "completed":
        check_run_event(repository, changed, "completed", repository.platform.app.bot)
    return changed


def rerequest(repository: Repository, run: CheckRun, sender: Account) -> None:
    """Somebody presses "Re-run": the suite is queued again, the run itself stays as it is."""
    repository.suites[run.suite_id] = replace(repository.suites[run.suite_id], requeued=True)
    check_run_event(repository, run, "rerequested", sender)


def rerequest_suite(repository: Repository, suite_id: int, sender: Account) -> None:
    """Somebody presses "Re-run all checks"."""
    repository.suites[suite_id] = replace(repository.suites[suite_id], requeued=True)
    check_suite_event(repository, repository.suites[suite_id], "rerequested", sender)


def request_action(repository: Repository, run: CheckRun, identifier: str, sender: Account) -> None:
    """Somebody presses a button of a completed run.

    Raises:
        LookupError: the run is not completed or has no such button.

    """
    if run.status != "completed" or identifier not in {action.identifier for action in run.actions}:
        raise LookupError(f"check run {run.name!r} shows no button {identifier!r}")
    check_run_event(repository, run, "requested_action", sender, {"requested_action": {"identifier": identifier}})


def _changed(repository: Repository, run: CheckRun, body: Body) -> CheckRun:
    now = repository.platform.clock.now()
    conclusion = body.get("conclusion", run.conclusion)
    status = "completed" if "conclusion" in body else body.get("status", run.status)
    completed = status == "completed"
    output = cast("Body", body.get("output", {}))
    changed = replace(
        run,
        name=str(body.get("name", run.name)),
        status=cast("CheckStatus", status),
        conclusion=cast("str | None", conclusion) if completed else None,
        started_at=_moment(body.get("started_at"), run.started_at),
        completed_at=_moment(body.get("completed_at"), run.completed_at or now) if completed else None,
        details_url=cast("str | None", body.get("details_url", run.details_url)),
        external_id=cast("str | None", body.get("external_id", run.external_id)),
        title=cast("str | None", output.get("title", run.title)),
        summary=cast("str | None", output.get("summary", run.summary)),
        text=cast("str | None", output.get("text", run.text)),
        annotations=(*run.annotations, *(_annotation(one) for one in cast("list[Body]", output.get("annotations", [])))),
        actions=tuple(_action(one) for one in cast("list[Body]", body["actions"])) if "actions" in body else run.actions,
    )
    repository.runs[run.id] = changed
    return changed


def _annotation(given: Body) -> Annotation:
    return Annotation(
        path=str(given["path"]),
        start_line=cast("int", given["start_line"]),
        end_line=cast("int", given["end_line"]),
        level=str(given["annotation_level"]),
        message=str(given["message"]),
        title=cast("str | None", given.get("title")),
        raw_details=cast("str | None", given.get("raw_details")),
        start_column=cast("int | None", given.get("start_column")),
        end_column=cast("int | None", given.get("end_column")),
    )


def _action(given: Body) -> CheckAction:
    return CheckAction(str(given["label"]), str(given["description"]), str(given["identifier"]))


def _moment(given: object, otherwise: datetime) -> datetime:
    return otherwise if given is None else datetime.fromisoformat(str(given))
