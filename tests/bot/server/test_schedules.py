"""Whatever people and GitHub do, and in whatever order, the invariants hold; `python -m benchmarks faults` plays more, with kills."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.campaign.invariants import broken
from benchmarks.campaign.play import play
from benchmarks.campaign.schedule import DEEDS, FAULTS, REQUESTS, Act, Schedule, Trouble
from benchmarks.campaign.serve import analysed
from bot.chains import review_pull
from bot.commands import compared
from simulator import Simulator
from tests.bot.server.conftest import HURRIED, at_rest, serving, settings_for

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("bot")]

_NUMBERS = count(1)
TROUBLES = st.builds(
    lambda request, fault, times, skip: Trouble(*request, fault(), times, skip),
    st.sampled_from(REQUESTS),
    st.sampled_from(FAULTS),
    st.sampled_from((1, 1, 2)),
    st.sampled_from((0, 1)),
)
ACTS = st.builds(Act, st.sampled_from((0.0, 0.05, 0.3)), st.sampled_from(DEEDS), st.none() | TROUBLES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bot(github: Simulator, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The bot with an analysis that takes no process: these tests are about jobs."""
    hurried = replace(HURRIED, catch_up=1.0)
    with pytest.MonkeyPatch.context() as patched:
        for module in (review_pull, compared):
            patched.setattr(module, "run_task", analysed)
        async with serving(settings_for(github, tmp_path_factory.mktemp("state"), pace=hurried)) as address:
            github.webhook_url = f"{address}/webhook"
            yield address


@given(st.lists(st.lists(ACTS, min_size=1, max_size=5), min_size=8, max_size=8))
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
async def test_the_invariants_hold(github: Simulator, plans: list[list[Act]]) -> None:
    schedules = [Schedule(next(_NUMBERS), tuple(acts), slow=0.0) for acts in plans]
    played = await asyncio.gather(*(play(github, schedule) for schedule in schedules))
    await github.deliveries_settled()
    github.faults.clear()
    await at_rest(played[0].repository, 60.0)
    assert [(each.schedule, sentence) for each in played for sentence in broken(each)] == []
