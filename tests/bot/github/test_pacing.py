"""Writes of one installation go one by one, a second apart, and nobody asks while GitHub wants to be left alone."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from bot.github.errors import RateLimitedError
from bot.github.pacing import Turn
from bot.settings import Pace


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("bot.github.pacing.time.monotonic", lambda: self.now)
        monkeypatch.setattr("bot.github.pacing.asyncio.sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


async def test_writes_that_come_at_once_go_a_second_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, turn = Clock(monkeypatch), Turn(Pace().write_interval)
    moments: list[float] = []

    async def write() -> None:
        async with turn.taken():
            moments.append(clock.now)

    await asyncio.gather(*(write() for _ in range(81)))
    apart = [later - earlier for earlier, later in pairwise(moments)]
    assert min(apart) >= 1.0
    assert moments[80] - moments[0] > 60.0  # GitHub takes at most 80 a minute


async def test_all_wait_where_one_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, turn = Clock(monkeypatch), Turn(1.0)
    turn.require_awake()
    await turn.rest(30.0)
    clock.now += 10.0
    await turn.rest(5.0)  # a shorter wish does not end the longer one
    with pytest.raises(RateLimitedError) as refused:
        turn.require_awake()
    assert refused.value.seconds == 20.0
    clock.now += 20.0
    turn.require_awake()


class Others:
    """Another process that has the next turns, as many as are left of its ``waits``."""

    def __init__(self, *waits: float) -> None:
        self.waits = list(waits)
        self.told: list[tuple[int, float]] = []

    async def reserve(self, _installation: int, _interval: float) -> float:
        return self.waits.pop(0)

    async def rest(self, installation: int, seconds: float) -> None:
        self.told.append((installation, seconds))


async def test_the_turns_of_other_processes_are_waited_out_and_their_rests_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, others = Clock(monkeypatch), Others(3.0, 90.0)
    turn = Turn(1.0, 7, others)
    async with turn.taken():
        assert clock.now == 1_003.0
    with pytest.raises(RateLimitedError) as refused:
        async with turn.taken():
            raise AssertionError("nothing is written")
    assert refused.value.seconds == 90.0
    with pytest.raises(RateLimitedError):
        turn.require_awake()  # nor read
    await turn.rest(40.0)
    assert others.told == [(7, 40.0)]
