"""Check runs and their annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator import checking
from simulator.errors import not_found, unprocessable
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.checks import annotation_json, check_run_json
from simulator.rest.registry import answers

if TYPE_CHECKING:
    from simulator.checkruns import CheckRun


@answers("checks/create")
def create_run(call: Call) -> Answer:
    """Make a run on a commit that the repository has; a second one of the same name is a second row."""
    sha = str(call.body["head_sha"])
    if call.repository.git.resolve(sha) != sha:
        raise unprocessable(f"No commit found for SHA: {sha}")
    return Answer(check_run_json(call.repository, checking.create_run(call.repository, call.body)), 201)


@answers("checks/update")
def update_run(call: Call) -> Answer:
    """Change a run; annotations are appended."""
    run = find_run(call)
    return Answer(check_run_json(call.repository, checking.update_run(call.repository, run, call.body)))


@answers("checks/get")
def get_run(call: Call) -> Answer:
    """One run."""
    return Answer(check_run_json(call.repository, find_run(call)))


@answers("checks/list-annotations")
def list_annotations(call: Call) -> Answer:
    """The annotations of a run, in the order they came."""
    run = find_run(call)
    return paged(call, [annotation_json(call.repository, run, one) for one in run.annotations])


@answers("checks/rerequest-run")
def rerequest_run(call: Call) -> Answer:
    """Ask for a run again."""
    checking.rerequest(call.repository, find_run(call), call.bot)
    return Answer({}, 201)


@answers("checks/list-for-ref")
def list_for_reference(call: Call) -> Answer:
    """The runs on a commit, the newest first."""
    sha = call.repository.git.resolve(call.text("ref"))
    if sha is None:
        raise unprocessable(f"No commit found for SHA: {call.text('ref')}")
    return list_runs(call, list(call.repository.check_runs(sha)))


def list_runs(call: Call, runs: list[CheckRun]) -> Answer:
    """Runs by the filters of the query; `latest` keeps the newest of each name."""
    name, status = call.query.get("check_name"), call.query.get("status")
    if call.query.get("app_id") not in (None, call.platform.app.id):
        runs = []
    shown = [run for run in reversed(runs) if name in (None, run.name) and status in (None, run.status)]
    if call.query.get("filter", "latest") == "latest":
        names = [run.name for run in shown]
        shown = [run for at, run in enumerate(shown) if run.name not in names[:at]]
    return paged(call, [check_run_json(call.repository, run) for run in shown], "check_runs")


def find_run(call: Call) -> CheckRun:
    """The run in the path (404 when there is none)."""
    found = call.repository.runs.get(call.number("check_run_id"))
    if found is None:
        raise not_found()
    return found
