"""Check suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.checking import rerequest_suite
from simulator.errors import not_found, unprocessable
from simulator.http.exchange import Answer, Call, paged
from simulator.representation.checks import check_suite_json
from simulator.rest.checks import list_runs
from simulator.rest.registry import answers
from simulator.suites import suite_for

if TYPE_CHECKING:
    from simulator.checkruns import CheckSuite


@answers("checks/create-suite")
def create_suite(call: Call) -> Answer:
    """Make a suite for a commit: 201, or 200 when it has one."""
    sha = str(call.body["head_sha"])
    if call.repository.git.resolve(sha) != sha:
        raise unprocessable(f"No commit found for SHA: {sha}")
    known = any(suite.head_sha == sha for suite in call.repository.suites.values())
    return Answer(check_suite_json(call.repository, suite_for(call.repository, sha)), 200 if known else 201)


@answers("checks/list-suites-for-ref")
def list_suites(call: Call) -> Answer:
    """The suites on a commit."""
    sha = call.repository.git.resolve(call.text("ref"))
    shown = [suite for suite in call.repository.suites.values() if suite.head_sha == sha]
    if call.query.get("app_id") not in (None, call.platform.app.id):
        shown = []
    return paged(call, [check_suite_json(call.repository, suite) for suite in shown], "check_suites")


@answers("checks/list-for-suite")
def list_runs_of_suite(call: Call) -> Answer:
    """The runs of a suite."""
    suite = _find(call)
    return list_runs(call, [run for run in call.repository.runs.values() if run.suite_id == suite.id])


@answers("checks/rerequest-suite")
def rerequest(call: Call) -> Answer:
    """Ask for all runs of a suite again."""
    rerequest_suite(call.repository, _find(call).id, call.bot)
    return Answer({}, 201)


def _find(call: Call) -> CheckSuite:
    found = call.repository.suites.get(call.number("check_suite_id"))
    if found is None:
        raise not_found()
    return found
