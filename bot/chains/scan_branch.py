"""Code scanning: what a commit holds, uploaded as SARIF where the repository wants that and the App may; silent where not."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
from dataclasses import dataclass

from bot.chains.review_state import settings_or_default
from bot.github.configuration import configuration_at
from bot.github.errors import NotFoundError, RefusedError
from bot.job import Chain, Json, Outcome, Step
from bot.worker.run import Stopped, run_task
from bot.worker.wire import Task
from bot.workplace import Workplace

#: What GitHub takes, after gzip; see code-scanning/upload-sarif.
_MAX_PACKED_BYTES = 10_000_000

log = logging.getLogger(__name__)


def scan_chain(place: Workplace) -> Chain:
    """The look at a new tip of the default branch."""
    scanning = Scanning(place)

    async def failed(facts: Json, reason: str) -> None:
        log.warning("%s at %s was not scanned: %s", facts["full_name"], facts["head"], reason)

    steps = (Step("prepare", scanning.prepare), Step("remember", scanning.remember, interruptible=True), Step("scan", scanning.scan, interruptible=True))
    return Chain(steps, failed)


@dataclass(frozen=True, slots=True)
class Scanning:
    """Needs ``head``, ``tip`` (where the configuration is read), ``ref`` and the changed ``paths`` in the job's state."""

    place: Workplace

    async def prepare(self, facts: Json) -> Outcome:
        """Bring the files of a repository that we have read before: its next pull request starts from them. Nothing is read of others for that."""
        reader = self.place.reader(self.place.client(facts))
        known = reader.knows_repository()
        if known:
            await reader.snapshots(facts["head"], facts["head"], ())
        if not known and not await self._may_upload(facts):
            return Outcome("done")
        return Outcome("go on", facts | {"tip": facts["head"], "changes": {"paths": []}, "known": known})

    async def remember(self, state: Json) -> Outcome:
        """Estimate what the next pull request starts from, where there was one before."""
        if not state.get("known"):
            return Outcome("go on", state)
        client = self.place.client(state)
        reader, kept = self.place.reader(client), self.place.kept(client)
        configuration = await configuration_at(reader, state["tip"])
        _, head, _ = await reader.snapshots(state["head"], state["head"], ())
        answer = await run_task(Task("remember", head, head, configuration, state["tip"], kept=await kept.read()), self.place.settings)
        if isinstance(answer, Stopped):
            log.info("%s at %s is estimated with its next pull request: %s", client.full_name, state["head"], answer.reason)
        else:
            await kept.add(answer["kept"])
        return Outcome("go on", state)

    async def scan(self, state: Json) -> Outcome:
        """Analyse the whole commit and upload it."""
        client = self.place.client(state)
        reader = self.place.reader(client)
        configuration = await configuration_at(reader, state["tip"])
        if not settings_or_default(configuration).sarif:
            return Outcome("done")
        if not await self._may_upload(state):
            return Outcome("done")
        _, head, _ = await reader.snapshots(state["head"], state["head"], state["changes"]["paths"])
        answer = await run_task(Task("sarif", head, head, configuration, state["tip"], kept=await self.place.kept(client).read()), self.place.settings)
        if isinstance(answer, Stopped):
            log.warning("%s at %s was not scanned: %s", client.full_name, state["head"], answer.reason)
            return Outcome("done")
        packed = await asyncio.to_thread(gzip.compress, json.dumps(answer["sarif"]).encode())
        if len(packed) > _MAX_PACKED_BYTES:
            log.warning("%s at %s has more findings than code scanning takes", client.full_name, state["head"])
            return Outcome("done")
        body = {"commit_sha": state["head"], "ref": state["ref"], "sarif": base64.b64encode(packed).decode()}
        try:
            await client.allowed(security_events="write").write("POST", "{repo}/code-scanning/sarifs", body)
        except (RefusedError, NotFoundError) as error:
            log.info("%s takes no SARIF: %s", client.full_name, error)  # code scanning is not enabled there
        return Outcome("done")

    async def _may_upload(self, facts: Json) -> bool:
        return (await self.place.app.granted(facts["installation"])).get("security_events") == "write"
