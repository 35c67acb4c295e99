"""Faults: each meets exactly the requests it was ordered for; and the rate limit that is always there."""

from __future__ import annotations

from dataclasses import replace

import aiohttp
import pytest

from simulator import BadGateway, Delay, Drop, Exhausted, PullRequest, RateLimited, Refuse, Simulator, StaleHead
from tests.simulator.client import REPOSITORY, AppClient

COMMENTS = f"{REPOSITORY}/issues/1/comments"


@pytest.mark.parametrize(("status", "retry_after"), [(403, 7), (429, None)])
async def test_a_secondary_limit_comes_with_or_without_retry_after(app: AppClient, github: Simulator, status: int, retry_after: int | None) -> None:
    github.fail_next("POST", r"/comments$", RateLimited(status, retry_after))

    refused = await app.post(COMMENTS, {"body": "x"})
    passed = await app.post(COMMENTS, {"body": "x"})

    assert (refused.status, refused.headers.get("Retry-After")) == (status, None if retry_after is None else str(retry_after))
    assert "secondary rate limit" in refused.json["message"]
    assert passed.status == 201


async def test_the_hour_can_be_used_up(app: AppClient, github: Simulator) -> None:
    github.fail_next("*", r"/pulls", Exhausted(reset_in=30))

    refused = await app.get(f"{REPOSITORY}/pulls")

    assert (refused.status, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert int(refused.headers["x-ratelimit-reset"]) == pytest.approx(github.clock.now().timestamp() + 30, abs=5)


async def test_a_502_may_come_before_or_after_the_write(app: AppClient, github: Simulator, pull: PullRequest) -> None:
    github.fail_next("POST", r"/comments$", BadGateway())
    github.fail_next("POST", r"/comments$", BadGateway(after_write=True))

    assert (await app.post(COMMENTS, {"body": "before"})).status == 502
    assert (await app.post(COMMENTS, {"body": "after"})).status == 502
    assert [one.body for one in pull.comments] == ["after"]


@pytest.mark.parametrize("after_write", [False, True])
async def test_the_connection_may_drop(app: AppClient, github: Simulator, pull: PullRequest, *, after_write: bool) -> None:
    github.fail_next("POST", r"/comments$", Drop(after_write=after_write))

    with pytest.raises(aiohttp.ClientError):
        await app.post(COMMENTS, {"body": "x"})

    assert len(pull.comments) == int(after_write)
    assert github.requests[-1].status is None


async def test_times_and_skip_count_requests(app: AppClient, github: Simulator) -> None:
    github.fail_next("GET", r"/pulls/1$", Refuse(503, "No server"), times=2, skip=1)

    statuses = [(await app.get(f"{REPOSITORY}/pulls/1")).status for _ in range(4)]

    assert statuses == [200, 503, 503, 200]
    assert github.faults.waiting == 0


async def test_an_answer_may_come_late(app: AppClient, github: Simulator) -> None:
    github.fail_next("GET", r"/pulls/1$", Delay(0.01))

    assert (await app.get(f"{REPOSITORY}/pulls/1")).status == 200


async def test_a_replica_may_lag_behind_the_last_push(app: AppClient, github: Simulator, pull: PullRequest) -> None:
    before = pull.head_sha
    pull.push({"new.py": "1\n"})
    github.fail_next("GET", r"/pulls/1$", StaleHead())

    heads = [(await app.get(f"{REPOSITORY}/pulls/1")).json["head"]["sha"] for _ in range(2)]

    assert heads == [before, pull.head_sha]


async def test_requests_are_counted_by_operation(app: AppClient, github: Simulator) -> None:
    github.service.records.clear()
    await app.get(f"{REPOSITORY}/pulls/1")
    await app.get(f"{REPOSITORY}/pulls/1")
    await app.graphql("{viewer{login}}")

    assert github.counts == {"pulls/get": 2, "graphql": 1}


async def test_the_primary_limit_refuses_when_the_hour_is_full(app: AppClient, github: Simulator) -> None:
    first = await app.get(REPOSITORY)
    used = int(first.headers["x-ratelimit-used"])
    github.limits = replace(github.limits, requests_per_hour=used + 1)

    second, third = await app.get(REPOSITORY), await app.get(REPOSITORY)

    assert (second.status, second.headers["x-ratelimit-remaining"]) == (200, "0")
    assert third.status == 403
    github.clock.advance(3500)
    assert (await app.get(REPOSITORY)).status == 403
    github.clock.advance(110)
    assert (await app.send("GET", REPOSITORY, token=(await app.new_token()).json["token"])).status == 200
