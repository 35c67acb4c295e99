"""Deliver events to the App over HTTP, in order, and keep a record of every attempt.

As on GitHub nothing is tried again by itself; a redelivery keeps the delivery's GUID. A test may lose, double, hold back
and reorder deliveries.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import time
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp

if TYPE_CHECKING:
    from datetime import datetime

    from simulator.platform import Platform

DELIVERY_TIMEOUT_SECONDS = 10
MAX_PAYLOAD_BYTES = 25 * 1024 * 1024
_ALWAYS_SENT = ("installation", "installation_repositories", "installation_target", "github_app_authorization")


@dataclass(frozen=True, slots=True)
class Event:
    """One event on its way; `body` is exactly what is signed and sent."""

    guid: str
    name: str
    action: str | None
    body: bytes
    installation_id: int
    repository_id: int | None
    redelivery: bool = False

    @property
    def payload(self) -> dict[str, object]:
        """The payload, decoded."""
        decoded: dict[str, object] = json.loads(self.body)
        return decoded


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt. `status_code` is None when no answer came; `duration` is in seconds."""

    id: int
    event: Event
    delivered_at: datetime
    duration: float
    status_code: int | None
    answer: str
    request_headers: dict[str, str]


@dataclass(slots=True)
class _Meddling:
    lose: deque[str] = field(default_factory=deque)
    double: deque[str] = field(default_factory=deque)
    holding: bool = False
    held: list[Event] = field(default_factory=list)


class Outbox:
    """The queue of events for the App. `url` None means that the App has no webhook: nothing is sent."""

    def __init__(self, platform: Platform, secret: str) -> None:
        self.url: str | None = None
        self.secret = secret
        self.deliveries: list[Delivery] = []
        self._platform = platform
        self._queue: asyncio.Queue[tuple[Event, ...]] = asyncio.Queue()
        self._meddling = _Meddling()

    def put(self, name: str, payload: dict[str, object], installation_id: int, repository_id: int | None) -> None:
        """Leave an event for delivery, if the App subscribes to it."""
        if self.url is None or name not in (*self._platform.app.events, *_ALWAYS_SENT):
            return
        action = payload.get("action")
        body = json.dumps(payload, separators=(",", ":")).encode()
        if len(body) > MAX_PAYLOAD_BYTES:
            return
        guid = str(uuid.uuid4())
        event = Event(guid, name, action if isinstance(action, str) else None, body, installation_id, repository_id)
        self._dispatch(event)

    def lose_next(self, event: str, times: int = 1) -> None:
        """Do not deliver the next events of that name at all."""
        self._meddling.lose.extend([event] * times)

    def double_next(self, event: str, times: int = 1) -> None:
        """Deliver the next events of that name twice, with one GUID."""
        self._meddling.double.extend([event] * times)

    def hold(self) -> None:
        """Keep events back until they are released."""
        self._meddling.holding = True

    def release(self, *, reverse: bool = False, together: int = 1) -> None:
        """Let the held events go, in reverse order or several at once if asked, and hold no more."""
        held = self._meddling.held[::-1] if reverse else list(self._meddling.held)
        self._meddling.holding = False
        self._meddling.held.clear()
        for first in range(0, len(held), together):
            self._queue.put_nowait(tuple(held[first : first + together]))

    def redeliver(self, delivery: Delivery) -> None:
        """Send an event once more; its GUID stays the same."""
        event = delivery.event
        again = Event(event.guid, event.name, event.action, event.body, event.installation_id, event.repository_id, redelivery=True)
        self._queue.put_nowait((again,))

    async def settled(self) -> None:
        """Wait until everything left here was delivered or refused."""
        await self._queue.join()

    async def run(self) -> None:
        """Deliver for ever; cancel it to stop."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=DELIVERY_TIMEOUT_SECONDS)) as session:
            while True:
                events = await self._queue.get()
                try:
                    self.deliveries += await asyncio.gather(*(self._deliver(session, event) for event in events))
                finally:
                    self._queue.task_done()

    def _dispatch(self, event: Event) -> None:
        meddling = self._meddling
        if event.name in meddling.lose:
            meddling.lose.remove(event.name)
            return
        copies = 1
        if event.name in meddling.double:
            meddling.double.remove(event.name)
            copies = 2
        for _ in range(copies):
            if meddling.holding:
                meddling.held.append(event)
            else:
                self._queue.put_nowait((event,))

    def _headers(self, event: Event) -> dict[str, str]:
        return {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/simulator",
            "Accept": "*/*",
            "X-GitHub-Event": event.name,
            "X-GitHub-Delivery": event.guid,
            "X-GitHub-Hook-ID": str(self._platform.app.id),
            "X-GitHub-Hook-Installation-Target-ID": str(self._platform.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature": "sha1=" + hmac.new(self.secret.encode(), event.body, hashlib.sha1).hexdigest(),
            "X-Hub-Signature-256": signature(self.secret, event.body),
        }

    async def _deliver(self, session: aiohttp.ClientSession, event: Event) -> Delivery:
        headers = self._headers(event)
        started = time.monotonic()
        status, answer = None, "failed to connect to host"
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):  # recorded as a delivery without an answer
            async with session.post(self.url or "", data=event.body, headers=headers, allow_redirects=False) as response:
                answer = await response.text()
                status = response.status
        duration = time.monotonic() - started
        now = self._platform.clock.now()
        return Delivery(self._platform.ids.next(), event, now, duration, status, answer, headers)


def signature(secret: str, body: bytes) -> str:
    """The value of `X-Hub-Signature-256`: HMAC-SHA256 of the body, hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
