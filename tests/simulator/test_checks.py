"""Check runs: annotations add up, statuses and suites follow, buttons reach the App."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from simulator import PullRequest, Repository, checking
from tests.simulator.client import REPOSITORY, AppClient, Hook

OUTPUT = {"title": "Title", "summary": "Summary"}


def annotations(count: int) -> dict[str, Any]:
    one = {"path": "train.py", "start_line": 1, "end_line": 1, "annotation_level": "notice"}
    return {**OUTPUT, "annotations": [{**one, "message": f"number {at}"} for at in range(count)]}


async def start(app: AppClient, pull: PullRequest, **more: Any) -> Any:
    return (await app.post(f"{REPOSITORY}/check-runs", {"name": "Preflight", "head_sha": pull.head_sha, **more})).json


async def test_annotations_are_appended_and_the_rest_replaced(app: AppClient, pull: PullRequest) -> None:
    run = await start(app, pull, output=annotations(50), status="in_progress")
    changed = {"output": {**annotations(3), "summary": "Another"}, "conclusion": "failure"}

    reply = (await app.patch(f"{REPOSITORY}/check-runs/{run['id']}", changed)).json

    assert (reply["status"], reply["conclusion"], reply["output"]["annotations_count"]) == ("completed", "failure", 53)
    assert reply["output"]["summary"] == "Another"
    listed = (await app.get(f"{REPOSITORY}/check-runs/{run['id']}/annotations?per_page=100")).json
    assert [one["message"] for one in listed[48:]] == ["number 48", "number 49", "number 0", "number 1", "number 2"]


async def test_two_runs_of_one_name_are_two_rows_and_the_latest_is_listed(app: AppClient, pull: PullRequest) -> None:
    await start(app, pull)
    second = await start(app, pull, external_id="second")

    latest = (await app.get(f"{REPOSITORY}/commits/{pull.head_sha}/check-runs?check_name=Preflight")).json
    everything = (await app.get(f"{REPOSITORY}/commits/{pull.head_sha}/check-runs?filter=all")).json

    assert ([one["id"] for one in latest["check_runs"]], latest["total_count"]) == ([second["id"]], 1)
    assert everything["total_count"] == 2
    assert (await app.get(f"{REPOSITORY}/commits/{pull.head_sha}/check-runs?app_id=1")).json["total_count"] == 0


async def test_a_run_names_its_pull_request_unless_it_comes_from_a_fork(app: AppClient, pull: PullRequest, repository: Repository) -> None:
    repository.fork("mona")
    forked = repository.open_pull_request("mona:idea", files={"new.py": "1\n"})

    assert [one["number"] for one in (await start(app, pull))["pull_requests"]] == [pull.number]
    assert (await start(app, forked))["pull_requests"] == []


async def test_pressing_re_run_queues_the_suite_and_leaves_the_run(app: AppClient, pull: PullRequest, hook: Hook) -> None:
    run = await start(app, pull, conclusion="success", output=OUTPUT)

    checking.rerequest(pull.repository, pull.repository.runs[run["id"]], pull.author)
    await app.github.deliveries_settled()

    event, payload = hook.seen[-1]
    assert (event, payload["action"], payload["check_run"]["id"]) == ("check_run", "rerequested", run["id"])
    assert payload["check_run"]["check_suite"]["status"] == "queued"
    assert (await app.get(f"{REPOSITORY}/check-runs/{run['id']}")).json["conclusion"] == "success"


async def test_a_button_tells_the_app_its_identifier(app: AppClient, pull: PullRequest, hook: Hook) -> None:
    action = {"label": "Fix", "description": "Apply the fixes", "identifier": "fix"}
    run = await start(app, pull, actions=[action])
    stored = pull.repository.runs[run["id"]]
    with pytest.raises(LookupError, match="no button"):
        checking.request_action(pull.repository, stored, "fix", pull.author)
    await app.patch(f"{REPOSITORY}/check-runs/{run['id']}", {"conclusion": "neutral"})

    checking.request_action(pull.repository, pull.repository.runs[run["id"]], "fix", pull.author)
    await app.github.deliveries_settled()

    assert hook.seen[-1][1]["requested_action"] == {"identifier": "fix"}


@pytest.mark.parametrize("sarif", ["not base64!", base64.b64encode(b"not gzip").decode()])
async def test_sarif_that_cannot_be_read_is_refused(app: AppClient, pull: PullRequest, sarif: str) -> None:
    body = {"commit_sha": pull.head_sha, "ref": "refs/heads/faster", "sarif": sarif}

    assert (await app.post(f"{REPOSITORY}/code-scanning/sarifs", body)).status == 400


async def test_a_reference_moves_only_forward_unless_forced(app: AppClient, pull: PullRequest, repository: Repository) -> None:
    path = f"{REPOSITORY}/git/refs/heads/faster"
    base = repository.head("main")

    assert (await app.patch(path, {"sha": base})).status == 422
    assert (await app.patch(path, {"sha": base, "force": True})).status == 200
    assert pull.head_sha == base
    assert (await app.post(f"{REPOSITORY}/git/refs", {"ref": "heads/x", "sha": base})).status == 422
    assert (await app.post(f"{REPOSITORY}/git/refs", {"ref": "refs/heads/main", "sha": base})).status == 422
