"""Jobs that this process holds but no longer works on: what the engine could not store (a full disk) has cut them off.

The engine leaves such a job as it is until the process ends, and a check in progress with it. Here it goes on as soon as the
database takes writes again; one that was stored as broken begins anew.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from dbos import DBOS

from bot import workflows
from bot.job import Job

#: Whatever cuts a job off more often is no disk that is full for a while; a restart counts on.
_MOST = 5

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Strays:
    """Those of the process that the engine calls ``executor``; ``begin_anew`` stores a job once more."""

    executor: str
    begin_anew: Callable[[Job], Awaitable[bool]]
    _seen: frozenset[str] = frozenset()
    _times: Counter[str] = field(default_factory=Counter)

    async def take_up(self) -> None:
        """Look for them; only those that were seen before are taken up, since one may be about to begin or end."""
        pending = await DBOS.list_workflows_async(status="PENDING", executor_id=self.executor, load_input=False, load_output=False)
        strays = {run.workflow_id: run.queue_name for run in pending if not workflows.at_work[run.workflow_id]}
        for name in sorted(self._seen & strays.keys()):
            if self._times[name] < _MOST:
                await DBOS.resume_workflows_async([name], queue_name=strays[name])
                self._taken_up(name)
        self._seen = frozenset(strays)
        await self._begin_broken_anew()

    async def _begin_broken_anew(self) -> None:
        for name, job in list(workflows.broken.items()):
            found = await DBOS.get_workflow_status_async(name)
            if found is not None and found.status == "ERROR" and self._times[job.key] < _MOST:
                await self.begin_anew(job)
                self._taken_up(job.key)
            workflows.broken.pop(name, None)

    def _taken_up(self, name: str) -> None:
        self._times[name] += 1
        log.warning("%s was cut off and goes on, the %d. time", name, self._times[name])
