"""Every operation of GitHub's description is answered, and every answer keeps to it (the simulator checks them itself)."""

from __future__ import annotations

import base64
import gzip
import json

from simulator import PullRequest, Repository
from simulator.openapi.document import operations
from simulator.rest.registry import handlers
from tests.simulator.client import REPOSITORY, AppClient, Hook

OUTPUT = {"title": "Title", "summary": "Summary"}
SARIF = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Preflight", "rules": [{"id": "r"}]}}, "results": [{"ruleId": "r"}]}]}


def test_every_operation_has_its_function() -> None:
    assert set(handlers()) == {operation.id for operation in operations()}


async def test_every_operation_answers_as_described(hook: Hook, app: AppClient, pull: PullRequest, repository: Repository) -> None:
    await app.github.deliveries_settled()
    assert hook.seen
    for ask in (_about_the_app, _checks, _conversation, _reviews, _reads, _writes, _code_scanning):
        await ask(app, pull, repository)

    asked = {request.operation for request in app.github.requests}
    assert {operation.id for operation in operations()} - asked == set()
    assert [(one.path, one.status) for one in app.github.requests if one.status is None or one.status >= 400] == []
    assert app.github.violations == []


async def _about_the_app(app: AppClient, pull: PullRequest, repository: Repository) -> None:
    installation = repository.platform.installation_of(repository)
    assert installation is not None
    delivery = app.github.webhooks.deliveries[0].id
    for method, path in [
        ("GET", "/app"),
        ("GET", "/app/installations"),
        ("GET", f"/app/installations/{installation.id}"),
        ("GET", f"{REPOSITORY}/installation"),
        ("GET", "/app/hook/deliveries"),
        ("GET", f"/app/hook/deliveries/{delivery}"),
        ("POST", f"/app/hook/deliveries/{delivery}/attempts"),
    ]:
        await app.send(method, path, token=app.jwt())
    app.github.service.manifest_codes["code"] = {**(await app.send("GET", "/app", token=app.jwt())).json} | {
        "client_id": "i",
        "client_secret": "s",
        "webhook_secret": "w",
        "pem": "p",
    }
    await app.send("POST", "/app-manifests/code/conversions", token="")
    other = (await app.new_token()).json["token"]
    await app.send("DELETE", "/installation/token", token=other)
    for path in ("/", "/meta", "/rate_limit", "/installation/repositories", REPOSITORY, f"{REPOSITORY}/pulls/{pull.number}"):
        await app.get(path)


async def _checks(app: AppClient, pull: PullRequest, repository: Repository) -> None:
    annotation = {"path": "train.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    run = (await app.post(f"{REPOSITORY}/check-runs", {"name": "Preflight", "head_sha": pull.head_sha})).json
    suite = run["check_suite"]["id"]
    await app.patch(f"{REPOSITORY}/check-runs/{run['id']}", {"conclusion": "success", "output": {**OUTPUT, "annotations": [annotation]}})
    for path in (f"check-runs/{run['id']}", f"check-runs/{run['id']}/annotations", f"check-suites/{suite}/check-runs"):
        await app.get(f"{REPOSITORY}/{path}")
    for path in ("check-runs", "check-suites"):
        await app.get(f"{REPOSITORY}/commits/faster/{path}")
    await app.post(f"{REPOSITORY}/check-runs/{run['id']}/rerequest")
    await app.post(f"{REPOSITORY}/check-suites/{suite}/rerequest")
    await app.post(f"{REPOSITORY}/check-suites", {"head_sha": repository.head("main")})
    await app.post(f"{REPOSITORY}/statuses/{pull.head_sha}", {"state": "success", "context": "preflight"})


async def _conversation(app: AppClient, pull: PullRequest, _: Repository) -> None:
    made = (await app.post(f"{REPOSITORY}/issues/{pull.number}/comments", {"body": "Hello."})).json
    path = f"{REPOSITORY}/issues/comments/{made['id']}"
    await app.get(path)
    await app.patch(path, {"body": "Hello again."})
    reaction = (await app.post(f"{path}/reactions", {"content": "eyes"})).json
    await app.send("DELETE", f"{path}/reactions/{reaction['id']}")
    await app.get(f"{REPOSITORY}/issues/{pull.number}/comments?since=2020-01-01T00:00:00Z")
    await app.send("DELETE", path)


async def _reviews(app: AppClient, pull: PullRequest, _: Repository) -> None:
    path = f"{REPOSITORY}/pulls/{pull.number}"
    place = {"path": "train.py", "line": 10, "side": "RIGHT", "body": "Look."}
    review = (await app.post(f"{path}/reviews", {"comments": [place]})).json
    await app.send("PUT", f"{path}/reviews/{review['id']}", {"body": "Read."})
    await app.post(f"{path}/reviews/{review['id']}/events", {"event": "REQUEST_CHANGES", "body": "Read."})
    await app.send("PUT", f"{path}/reviews/{review['id']}/dismissals", {"message": "Done."})
    comment = (await app.post(f"{path}/comments", {**place, "commit_id": pull.head_sha})).json
    await app.post(f"{path}/comments/{comment['id']}/replies", {"body": "Reply."})
    await app.post(f"{REPOSITORY}/pulls/comments/{comment['id']}/reactions", {"content": "+1"})
    await app.patch(f"{REPOSITORY}/pulls/comments/{comment['id']}", {"body": "Changed."})
    for listed in ("reviews", "comments", "files"):
        await app.get(f"{path}/{listed}")
    await app.send("DELETE", f"{REPOSITORY}/pulls/comments/{comment['id']}")
    await app.get(f"{REPOSITORY}/pulls?state=all&head=octo:faster&sort=updated")


async def _reads(app: AppClient, pull: PullRequest, _: Repository) -> None:
    for path in (
        "branches/main",
        "collaborators/mona/permission",
        "commits/faster",
        "compare/main...faster",
        "contents/train.py",
        "git/commits/" + pull.head_sha,
        "git/ref/heads/main",
        "git/trees/main",
        "tarball/main",
    ):
        await app.get(f"{REPOSITORY}/{path}")


async def _writes(app: AppClient, _: PullRequest, repository: Repository) -> None:
    blob = (await app.post(f"{REPOSITORY}/git/blobs", {"content": base64.b64encode(b"new").decode(), "encoding": "base64"})).json
    await app.get(f"{REPOSITORY}/git/blobs/{blob['sha']}")
    rows = [{"path": "new.py", "mode": "100644", "type": "blob", "sha": blob["sha"]}, {"path": "train.py", "mode": "100644", "type": "blob", "sha": None}]
    tree = (await app.post(f"{REPOSITORY}/git/trees", {"base_tree": repository.head("main"), "tree": rows})).json
    commit = (await app.post(f"{REPOSITORY}/git/commits", {"message": "New", "tree": tree["sha"], "parents": [repository.head("main")]})).json
    await app.post(f"{REPOSITORY}/git/refs", {"ref": "refs/heads/bot", "sha": repository.head("main")})
    await app.patch(f"{REPOSITORY}/git/refs/heads/bot", {"sha": commit["sha"]})
    assert repository.read("bot", "new.py") == "new"
    await app.post(f"{REPOSITORY}/pulls", {"title": "From the App", "head": "bot", "base": "main"})
    await app.send("DELETE", f"{REPOSITORY}/git/refs/heads/bot")


async def _code_scanning(app: AppClient, pull: PullRequest, _: Repository) -> None:
    packed = base64.b64encode(gzip.compress(json.dumps(SARIF).encode())).decode()
    body = {"commit_sha": pull.head_sha, "ref": f"refs/pull/{pull.number}/head", "sarif": packed}
    made = (await app.post(f"{REPOSITORY}/code-scanning/sarifs", body)).json
    await app.get(f"{REPOSITORY}/code-scanning/sarifs/{made['id']}")
    analyses = (await app.get(f"{REPOSITORY}/code-scanning/analyses")).json
    assert [(one["results_count"], one["rules_count"], one["tool"]["name"]) for one in analyses] == [(1, 1, "Preflight")]
