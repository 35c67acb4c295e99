"""Every documented rule: a good request passes, the same one with the rule broken is a 422 and a violation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from simulator import PullRequest, Simulator
from tests.simulator.client import REPOSITORY, AppClient
from tests.simulator.conftest import NEW, OLD, PERMISSIONS

# Nothing is left behind by a refused request, so that all of them can go to one simulator.
pytestmark = pytest.mark.asyncio(loop_scope="module")

ANNOTATION = {"path": "train.py", "start_line": 3, "end_line": 3, "annotation_level": "warning", "message": "Look."}
OUTPUT = {"title": "Title", "summary": "Summary"}
RUN = {"name": "Preflight", "head_sha": "HEAD", "output": OUTPUT}
COMMENT = {"path": "train.py", "line": 10, "side": "RIGHT", "body": "Look."}
ACTION = {"label": "Fix", "description": "Apply the fixes", "identifier": "fix"}


def run(**changed: Any) -> dict[str, Any]:
    return {**RUN, **changed}


def output(**changed: Any) -> dict[str, Any]:
    return run(output={**OUTPUT, **changed})


def annotated(**changed: Any) -> dict[str, Any]:
    return output(annotations=[{**ANNOTATION, **changed}])


def review(**changed: Any) -> dict[str, Any]:
    return {"event": "COMMENT", "body": "Read.", "comments": [{**COMMENT, **changed}]}


GOOD: list[tuple[str, dict[str, Any]]] = [
    ("check-runs", run()),
    ("check-runs", run(status="completed", conclusion="neutral")),
    ("check-runs", run(details_url="https://example.org", external_id="7", actions=[ACTION] * 3)),
    ("check-runs", annotated(start_column=1, end_column=4, title="t" * 255, raw_details="r")),
    ("check-runs", output(annotations=[ANNOTATION] * 50, text="t" * 65_535)),
    ("pulls/1/reviews", review()),
    ("pulls/1/reviews", review(start_line=9, start_side="RIGHT")),
    ("pulls/1/reviews", {"event": "APPROVE"}),
    ("pulls/1/comments", {**COMMENT, "commit_id": "HEAD"}),
    ("pulls/1/comments", {"path": "train.py", "body": "Look.", "commit_id": "HEAD", "subject_type": "file"}),
    ("issues/1/comments", {"body": "x" * 65_536}),
    ("git/blobs", {"content": "x"}),
]
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("check-runs", {"name": "Preflight"}, "head_sha"),
    ("check-runs", run(headsha="x"), "headsha"),
    ("check-runs", run(name="  "), "name"),
    ("check-runs", run(head_sha="0" * 40), "No commit found"),
    ("check-runs", run(status="completed"), "conclusion is required"),
    ("check-runs", run(completed_at="2026-01-01T00:00:00Z"), "conclusion is required"),
    ("check-runs", run(status="in_progress", conclusion="success"), "conclusion"),
    ("check-runs", run(status="waiting"), "status"),
    ("check-runs", run(conclusion="good"), "conclusion"),
    ("check-runs", run(conclusion="stale"), "stale"),
    ("check-runs", run(started_at="yesterday"), "started_at"),
    ("check-runs", run(details_url="ftp://example.org"), "details_url"),
    ("check-runs", run(output={"title": "Title"}), "summary"),
    ("check-runs", output(title=""), "title"),
    ("check-runs", output(summary="s" * 65_536), "summary"),
    ("check-runs", output(text="s" * 65_536), "text"),
    ("check-runs", output(annotations=[ANNOTATION] * 51), "annotations"),
    ("check-runs", annotated(annotation_level="error"), "annotation_level"),
    ("check-runs", annotated(start_line=4), "no range"),
    ("check-runs", annotated(start_line=0, end_line=0), "no range"),
    ("check-runs", annotated(end_line=4, start_column=1, end_column=2), "start_column"),
    ("check-runs", annotated(start_column=0), "column"),
    ("check-runs", annotated(path="/train.py"), "relative"),
    ("check-runs", annotated(message=""), "blank"),
    ("check-runs", annotated(message="m" * 65_537), "64 KB"),
    ("check-runs", annotated(raw_details="m" * 65_537), "64 KB"),
    ("check-runs", annotated(title="t" * 256), "title"),
    ("check-runs", run(actions=[ACTION] * 4), "actions"),
    ("check-runs", run(actions=[{**ACTION, "label": "l" * 21}]), "label"),
    ("check-runs", run(actions=[{**ACTION, "description": "d" * 41}]), "description"),
    ("check-runs", run(actions=[{**ACTION, "identifier": "i" * 21}]), "identifier"),
    ("pulls/1/reviews", {"event": "COMMENT"}, "Body can't be blank"),
    ("pulls/1/reviews", {"event": "REJECT", "body": "x"}, "event"),
    ("pulls/1/reviews", {"event": "COMMENT", "body": "b" * 65_537}, "too long"),
    ("pulls/1/reviews", review(side="right"), "side"),
    ("pulls/1/reviews", review(start_line=9, start_side="left"), "start_side"),
    ("pulls/1/reviews", review(start_line=10), "precede"),
    ("pulls/1/reviews", review(start_line=11), "precede"),
    ("pulls/1/reviews", review(start_side="RIGHT"), "start_line"),
    ("pulls/1/reviews", review(body=""), "blank"),
    ("pulls/1/reviews", review(body="b" * 65_537), "too long"),
    ("pulls/1/reviews", review(subject_type="file"), "subject_type"),
    ("pulls/1/reviews", {"event": "COMMENT", "body": "x", "comments": [{"path": "train.py", "body": "x"}]}, "line"),
    ("pulls/1/comments", {**COMMENT}, "commit_id"),
    ("pulls/1/comments", {"path": "train.py", "body": "x", "commit_id": "HEAD"}, "line"),
    ("pulls/1/comments", {**COMMENT, "commit_id": "HEAD", "subject_type": "file"}, "file"),
    ("issues/1/comments", {"body": "x" * 65_537}, "too long"),
    ("issues/1/comments", {"body": " \n"}, "blank"),
    ("issues/1/comments", {}, "body"),
    ("issues/1/comments", {"body": "x", "draft": True}, "draft"),
    ("code-scanning/sarifs", {"commit_sha": "HEAD", "ref": "main", "sarif": "x"}, "ref"),
]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared() -> AsyncIterator[tuple[AppClient, PullRequest]]:
    async with Simulator.start(permissions=PERMISSIONS) as github, aiohttp.ClientSession(headers={"User-Agent": "tests"}) as session:
        repository = github.create_repository("octo/train", {"train.py": OLD})
        pull = repository.open_pull_request("faster", files={"train.py": NEW})
        client = AppClient(github, session)
        client.token = (await client.new_token()).json["token"]
        yield client, pull


@pytest.fixture
def app(shared: tuple[AppClient, PullRequest]) -> AppClient:
    shared[0].github.service.records.clear()
    return shared[0]


@pytest.fixture
def pull(shared: tuple[AppClient, PullRequest]) -> PullRequest:
    return shared[1]


def _posted(pull: PullRequest) -> tuple[int, ...]:
    return len(pull.comments), len(pull.reviews), len(pull.review_comments), len(pull.repository.check_runs())


def _at_head(body: dict[str, Any], pull: PullRequest) -> dict[str, Any]:
    return {name: pull.head_sha if value == "HEAD" else value for name, value in body.items()}


@pytest.mark.parametrize(("path", "body"), GOOD)
async def test_good_requests_pass(app: AppClient, pull: PullRequest, path: str, body: dict[str, Any]) -> None:
    reply = await app.post(f"{REPOSITORY}/{path}", _at_head(body, pull))

    assert reply.status in (200, 201), reply.json
    assert app.github.violations == []


@pytest.mark.parametrize(("path", "body", "named"), BAD)
async def test_bad_requests_are_refused_and_recorded(app: AppClient, pull: PullRequest, path: str, body: dict[str, Any], named: str) -> None:
    before = _posted(pull)
    reply = await app.post(f"{REPOSITORY}/{path}", _at_head(body, pull))

    assert reply.status == 422
    assert [one.path for one in app.github.violations] == [f"{REPOSITORY}/{path}"]
    assert named in app.github.violations[0].problem
    assert _posted(pull) == before


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/pulls?state=new", "state"),
        ("/pulls?per_page=101", "per_page"),
        ("/pulls?per_page=0", "per_page"),
        ("/pulls?page=two", "page"),
        ("/pulls?pages=2", "pages"),
        ("/pulls/one", "pull_number"),
        ("/commits/main/check-runs?filter=newest", "filter"),
    ],
)
async def test_bad_parameters_are_refused(app: AppClient, path: str, named: str) -> None:
    reply = await app.get(REPOSITORY + path)

    assert reply.status == 422
    assert named in app.github.violations[0].problem


async def test_an_update_needs_title_and_conclusion_too(app: AppClient, pull: PullRequest) -> None:
    made = (await app.post(f"{REPOSITORY}/check-runs", _at_head(run(), pull))).json
    path = f"{REPOSITORY}/check-runs/{made['id']}"

    assert (await app.patch(path, {"output": {"summary": "s"}})).status == 422
    assert (await app.patch(path, {"status": "completed"})).status == 422
    assert (await app.patch(path, {"status": "completed", "conclusion": "success", "output": OUTPUT})).status == 200


async def test_what_github_does_not_have_is_a_violation(app: AppClient) -> None:
    assert (await app.get(f"{REPOSITORY}/pullz")).status == 404
    assert (await app.send("PUT", f"{REPOSITORY}/pulls/1")).status == 404
    assert [one.operation for one in app.github.violations] == [None, None]


async def test_a_body_that_is_no_json_object_is_refused(app: AppClient) -> None:
    assert (await app.post(f"{REPOSITORY}/issues/1/comments", ["body"])).status == 400
    assert (await app.post(f"{REPOSITORY}/issues/1/comments")).status == 422
    assert (await app.send("GET", REPOSITORY, {"a": 1})).status == 422
