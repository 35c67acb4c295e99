"""Runs one step of a job: again after a broken line, later after a rate limit, and never with an exception for an answer."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.github.errors import RateLimitedError, TransientError
from bot.job import Chain, Json, Outcome, Step
from bot.logs import about
from bot.metrics import Metrics
from bot.settings import Pace

_TRIES = 4
#: Until a step that this version lacks may be taken up by another process.
ELSEWHERE_SECONDS = 1.0

log = logging.getLogger(__name__)


async def _never() -> bool:
    return False


@dataclass(slots=True)
class Performer:
    """Knows the chains. ``boot`` is the name of this process's start; ``stopping`` that it is about to end.

    ``is_replaced`` says whether the job whose step is running was replaced: such a step is not tried again.
    """

    chains: Mapping[str, Chain]
    pace: Pace
    metrics: Metrics
    boot: str = field(default_factory=lambda: uuid.uuid4().hex)
    stopping: bool = False
    is_replaced: Callable[[], Awaitable[bool]] = _never
    _settled: dict[str, float] = field(default_factory=dict)

    def plan(self, kind: str) -> list[Json]:
        """The steps of a chain as this version has them; none where it does not know the ``kind``."""
        return [{"name": step.name, "light": step.light, "interruptible": step.interruptible} for step in self.steps(kind)]

    def steps(self, kind: str) -> tuple[Step, ...]:
        """The chain of ``kind``, as far as this version has one."""
        return self.chains[kind].steps if kind in self.chains else ()

    async def perform(self, kind: str, name: str, state: Json, boot: str) -> Outcome:
        """The step ``name`` of a chain that the process ``boot`` began; "elsewhere" where this version has no such step."""
        step = next((each for each in self.steps(kind) if each.name == name), None)
        if step is None:
            log.info("%s, %s is of another version of the server: handed back", kind, name)
            return Outcome("elsewhere", state, ELSEWHERE_SECONDS)
        if boot != self.boot:
            await self._settle(boot, step)
        outcome = await self._timed(kind, step.name, lambda: step.run(state), state)
        return replace(outcome, follow=tuple(replace(job, added=time.time()) for job in outcome.follow))

    async def _settle(self, boot: str, step: Step) -> None:
        """What the dead process ``boot`` was writing must have happened or not before we look; a step that may be cut off at any moment looks at nothing."""
        settled = self._settled.setdefault(boot, time.monotonic() + self.pace.settle)
        if not step.interruptible:
            await asyncio.sleep(max(0.0, settled - time.monotonic()))

    async def report(self, kind: str, facts: Json, reason: str, before: int) -> Outcome:
        """Tell whoever waits that the job ended without its result; "later" where GitHub did not take it, as it did not ``before`` so many times."""

        async def tell() -> Outcome:
            await self.chains[kind].failed(facts, reason)
            return Outcome("done")

        outcome = await self._timed(kind, "report failure", tell, facts)
        return Outcome("later", facts, self.pace.patience(before)) if outcome.then == "failed" and outcome.state.get("passing") else outcome

    async def _timed(self, kind: str, name: str, run: Callable[[], Awaitable[Outcome]], state: Json) -> Outcome:
        started = time.monotonic()
        ended = "cancelled"
        try:
            with about(state, job=kind, step=name):
                outcome = await self._tried(f"{kind}, {name}", run, state)
            ended = outcome.then
        finally:
            self.metrics.jobs.add(kind=kind, step=name, outcome=ended)
            self.metrics.step_seconds.observe(time.monotonic() - started, kind=kind, step=name)
        return outcome

    async def _tried(self, label: str, run: Callable[[], Awaitable[Outcome]], state: Json) -> Outcome:
        for attempt in range(1, _TRIES + 1):
            try:
                return await run()
            except RateLimitedError as error:
                log.info("%s waits %.0f s for GitHub", label, error.seconds)
                return Outcome("later", state, error.seconds)
            except (TransientError, OSError) as error:
                log.warning("%s, try %d of %d: %s", label, attempt, _TRIES, error)
                reason = str(error)
                await asyncio.sleep(self.pace.retry * 2 ** (attempt - 1))
                if await self.is_replaced():
                    return Outcome("done")
            except Exception as error:
                if self.stopping:
                    raise  # the next process goes on from here
                log.exception("%s failed", label)
                return Outcome("failed", {"reason": f"{type(error).__name__}: {error}"})
        return Outcome("failed", {"reason": reason, "passing": True})
