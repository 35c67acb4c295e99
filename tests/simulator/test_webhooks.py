"""Events: shaped as GitHub describes them, signed, delivered in order unless told otherwise, and delivered again on demand."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from simulator import PullRequest, Repository, Simulator, checking
from simulator.webhooks.outbox import signature
from tests.simulator.client import REPOSITORY, AppClient, Hook

PAYLOADS = Path(__file__).parent / "webhook_schemas" / "payloads.json"


@cache
def described(name: str) -> jsonschema_rs.Validator:
    document = json.loads(PAYLOADS.read_text(encoding="utf-8"))
    return jsonschema_rs.Draft202012Validator({**document["payloads"][name], "components": document["components"]}, validate_formats=True)


def mistakes(hook: Hook) -> list[str]:
    found = []
    for event, payload in hook.seen:
        name = "-".join([event, *([payload["action"]] if "action" in payload else [])]).replace("_", "-")
        found += [f"{name}: {list(error.instance_path)} {error.message[:200]}" for error in described(name).iter_errors(payload)]
    return found


ACTS: dict[str, Callable[[PullRequest], object]] = {
    "pull_request.synchronize": lambda pull: pull.push({"a": "b"}),
    "pull_request.edited": lambda pull: (pull.repository.commit("next", {"a": "b"}), pull.change_base("next")),
    "pull_request.converted_to_draft": lambda pull: pull.set_draft(draft=True),
    "pull_request.ready_for_review": lambda pull: pull.set_draft(draft=False),
    "pull_request.labeled": lambda pull: pull.set_labels("preflight: skip"),
    "pull_request.unlabeled": lambda pull: (pull.set_labels("preflight: skip"), pull.set_labels()),
    "pull_request.closed": lambda pull: pull.merge(),
    "pull_request.reopened": lambda pull: (pull.close(), pull.reopen()),
    "issue_comment.created": lambda pull: pull.comment("mona", "/preflight help"),
    "issue_comment.edited": lambda pull: pull.edit_comment(pull.comment("mona", "a").id, "b"),
    "issue_comment.deleted": lambda pull: pull.delete_comment(pull.comment("mona", "a").id),
    "merge_group.checks_requested": lambda pull: pull.enqueue(),
    "merge_group.destroyed": lambda pull: pull.dequeue(pull.enqueue()),
    "push": lambda pull: pull.force_push({"a": "b"}),
}


@pytest.mark.parametrize("name", ACTS)
async def test_what_people_do_is_told_as_github_describes_it(github: Simulator, hook: Hook, pull: PullRequest, name: str) -> None:
    ACTS[name](pull)
    await github.deliveries_settled()

    assert name in hook.names
    assert mistakes(hook) == []


async def test_opening_tells_of_installation_push_suite_and_pull_request(github: Simulator, hook: Hook, pull: PullRequest) -> None:
    await github.deliveries_settled()

    assert hook.names == ["installation.created", "push", "check_suite.requested", "pull_request.opened"]
    assert hook.seen[-1][1]["pull_request"]["head"]["sha"] == pull.head_sha
    assert mistakes(hook) == []


async def test_check_runs_are_told_back(github: Simulator, hook: Hook, app: AppClient, pull: PullRequest) -> None:
    body = {"name": "Preflight", "head_sha": pull.head_sha, "conclusion": "success"}
    run = (await app.post(f"{REPOSITORY}/check-runs", body)).json
    checking.rerequest(pull.repository, pull.repository.runs[run["id"]], pull.author)
    await github.deliveries_settled()

    assert hook.names[-3:] == ["check_run.created", "check_run.completed", "check_run.rerequested"]
    assert mistakes(hook) == []


async def test_installations_are_told(github: Simulator, hook: Hook, repository: Repository) -> None:
    installation = github.install("octo", ["train"])
    github.create_repository("octo/other", {"a": "b"}, installed=False)
    installation = github.install("octo", ["train", "other"])
    github.suspend(installation)
    github.uninstall(installation)
    repository.commit("main", {"a": "unheard"})
    await github.deliveries_settled()

    assert hook.names == ["installation.created", "installation_repositories.added", "installation.suspend", "installation.deleted"]
    assert mistakes(hook) == []


async def test_deliveries_are_signed(github: Simulator, hook: Hook, pull: PullRequest) -> None:
    await github.deliveries_settled()

    digest = hmac.new(github.webhook_secret.encode(), hook.bodies[-1], hashlib.sha256).hexdigest()
    headers = hook.headers[-1]
    assert headers["X-Hub-Signature-256"] == f"sha256={digest}"
    assert headers["X-GitHub-Hook-Installation-Target-ID"] == str(github.app_id)
    assert pull.number == hook.seen[-1][1]["number"]


def test_the_signature_is_the_one_in_githubs_documentation() -> None:
    expected = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

    assert signature("It's a Secret to Everybody", b"Hello, World!") == f"sha256={expected}"


async def test_only_subscribed_events_are_sent() -> None:
    hook = Hook()
    listener = await hook.serve()
    async with Simulator.start(events=["issue_comment"]) as github:
        github.webhook_url = f"{listener.url}/webhook"
        github.create_repository("octo/train", {"a": "1"}).open_pull_request("b", files={"a": "2"}).comment("octo", "hello")
        await github.deliveries_settled()
    await listener.close()

    assert hook.names == ["installation.created", "issue_comment.created"]


async def test_a_redelivery_keeps_its_guid(github: Simulator, hook: Hook, app: AppClient) -> None:
    hook.status = 500
    await github.deliveries_settled()
    failed = (await app.send("GET", "/app/hook/deliveries?status=failure&per_page=1", token=app.jwt())).json
    hook.status = 202

    reply = await app.send("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts", token=app.jwt())
    await github.deliveries_settled()

    assert reply.status == 202
    assert hook.headers[-1]["X-GitHub-Delivery"] == hook.headers[-2]["X-GitHub-Delivery"] == failed[0]["guid"]
    newest = (await app.send("GET", "/app/hook/deliveries", token=app.jwt())).json[0]
    assert (newest["guid"], newest["redelivery"], newest["status_code"]) == (failed[0]["guid"], True, 202)


async def test_nobody_listening_is_recorded_and_not_tried_again(github: Simulator, repository: Repository) -> None:
    github.webhook_url = "http://127.0.0.1:9/webhook"
    repository.open_pull_request("b", files={"a": "2"})
    await github.deliveries_settled()

    assert {one.status_code for one in github.webhooks.deliveries} == {None}
    assert len({one.event.guid for one in github.webhooks.deliveries}) == len(github.webhooks.deliveries)


async def test_events_can_be_lost_doubled_and_reordered(github: Simulator, hook: Hook, pull: PullRequest) -> None:
    await github.deliveries_settled()
    hook.seen.clear()
    github.webhooks.lose_next("issue_comment")
    pull.comment("mona", "lost")
    github.webhooks.double_next("issue_comment")
    pull.comment("mona", "twice")
    github.webhooks.hold()
    pull.comment("mona", "first")
    pull.comment("mona", "second")
    await github.deliveries_settled()
    assert [payload["comment"]["body"] for _, payload in hook.seen] == ["twice", "twice"]

    github.webhooks.release(reverse=True)
    await github.deliveries_settled()

    said: list[Any] = [payload["comment"]["body"] for _, payload in hook.seen]
    assert said == ["twice", "twice", "second", "first"]
    assert hook.headers[-4]["X-GitHub-Delivery"] == hook.headers[-3]["X-GitHub-Delivery"]
