"""Who may ask what: the App's JWT, installation tokens, scopes and permissions."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from simulator import PullRequest, Simulator
from tests.simulator.client import REPOSITORY, AppClient


async def test_a_correct_jwt_is_the_app(app: AppClient) -> None:
    reply = await app.send("GET", "/app", token=app.jwt())

    assert reply.status == 200
    assert reply.json["id"] == app.github.app_id


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"exp": 4_000_000_000}, "too far in the future"),
        ({"exp": 1_000_000_000}, "'Expiration time' claim"),
        ({"exp": None}, "'Expiration time' claim"),
        ({"iat": 4_000_000_000}, "'Issued at' claim"),
        ({"iat": None}, "'Issued at' claim"),
    ],
)
async def test_a_jwt_with_wrong_times_is_refused(app: AppClient, claims: dict[str, Any], said: str) -> None:
    reply = await app.send("GET", "/app", token=app.jwt(**claims))

    assert reply.status == 401
    assert said in reply.json["message"]


async def test_a_jwt_of_another_key_or_app_is_refused(app: AppClient) -> None:
    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()

    assert (await app.send("GET", "/app", token=app.jwt(pem))).status == 401
    assert (await app.send("GET", "/app", token=app.jwt(iss="4711"))).status == 404
    assert (await app.send("GET", "/app", token="")).status == 401


async def test_a_jwt_is_no_installation_token_and_the_other_way_round(app: AppClient) -> None:
    assert (await app.send("GET", f"{REPOSITORY}/pulls", token=app.jwt())).status == 401
    assert (await app.get("/app")).status == 401


async def test_a_token_lasts_an_hour(app: AppClient) -> None:
    app.github.clock.advance(3590)
    assert (await app.get(REPOSITORY)).status == 200

    app.github.clock.advance(20)
    assert (await app.get(REPOSITORY)).status == 401


async def test_both_token_formats_work(app: AppClient) -> None:
    opaque = (await app.new_token(X_GitHub_Stateless_S2S_Token="disabled")).json["token"]
    stateless = (await app.new_token(X_GitHub_Stateless_S2S_Token="enabled")).json["token"]

    assert len(opaque) == 40
    assert stateless.startswith(f"ghs_{app.github.app_id}_")
    assert stateless.count(".") == 2
    assert 400 < len(stateless) < 600
    for token in (opaque, stateless):
        assert (await app.send("GET", REPOSITORY, token=token)).status == 200


async def test_a_token_reaches_only_the_repositories_it_was_made_for(app: AppClient) -> None:
    app.github.create_repository("octo/other", {"a": "b"})
    app.github.create_repository("stranger/train", {"a": "b"})
    scoped = (await app.new_token({"repositories": ["train"]})).json

    assert scoped["repository_selection"] == "selected"
    assert (await app.send("GET", REPOSITORY, token=scoped["token"])).status == 200
    assert (await app.send("GET", "/repos/octo/other", token=scoped["token"])).status == 404
    assert (await app.get("/repos/octo/other")).status == 200
    assert (await app.get("/repos/stranger/train")).status == 404
    assert (await app.new_token({"repositories": ["nothing"]})).status == 422
    listed = await app.send("GET", "/installation/repositories", token=scoped["token"])
    assert [one["name"] for one in listed.json["repositories"]] == ["train"]


async def test_a_token_carries_only_the_permissions_it_was_made_for(app: AppClient) -> None:
    token = (await app.new_token({"permissions": {"contents": "read"}})).json["token"]

    assert (await app.send("GET", f"{REPOSITORY}/git/trees/main", token=token)).status == 200
    refused = await app.send("GET", f"{REPOSITORY}/pulls", token=token)
    assert (refused.status, refused.json["message"]) == (403, "Resource not accessible by integration")
    assert (await app.send("POST", f"{REPOSITORY}/git/blobs", {"content": "x"}, token=token)).status == 403


async def test_more_permissions_than_the_installation_has_are_refused(app: AppClient) -> None:
    assert (await app.new_token({"permissions": {"workflows": "write"}})).status == 422
    assert (await app.new_token({"permissions": {"contentz": "read"}})).status == 422


async def test_a_revoked_token_and_a_suspended_installation_are_refused(github: Simulator, app: AppClient, pull: PullRequest) -> None:
    token = (await app.new_token()).json["token"]
    assert (await app.send("DELETE", "/installation/token", token=token)).status == 204
    assert (await app.send("GET", REPOSITORY, token=token)).status == 401

    installation = github.platform.installation_of(pull.repository)
    assert installation is not None
    github.suspend(installation)
    assert (await app.get(REPOSITORY)).status == 403


async def test_workflow_files_need_a_permission_of_their_own(app: AppClient) -> None:
    row = {"path": ".github/workflows/ci.yml", "mode": "100644", "type": "blob", "content": "on: push"}

    assert (await app.post(f"{REPOSITORY}/git/trees", {"tree": [row]})).status == 403
    assert (await app.post(f"{REPOSITORY}/git/trees", {"tree": [{**row, "path": "ci.yml"}]})).status == 201


async def test_a_request_without_user_agent_or_with_an_unknown_version_is_refused(app: AppClient) -> None:
    assert (await app.get(REPOSITORY, User_Agent="")).status == 403
    assert (await app.get(REPOSITORY, X_GitHub_Api_Version="2020-01-01")).status == 400
    assert (await app.get(REPOSITORY, X_GitHub_Api_Version="2026-03-10")).status == 200
