"""The App itself: who it is, its tokens, and clients for its installations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.github.app_auth import Permissions, TokenCache, app_jwt
from bot.github.client import Client
from bot.github.pacing import Elsewhere, Turn, repeated_read
from bot.github.transport import Answer, Transport
from bot.settings import ServerSettings

_PAGE = 100
_MAX_PAGES = 40
_CURSOR = re.compile(r'[?&]cursor=([^&>]+)[^>]*>; rel="next"')


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """One attempt to deliver that we did not answer with success; ``guid`` names the delivery, ``id`` the attempt."""

    id: int
    guid: str
    event: str
    at: datetime


@dataclass(slots=True)
class App:
    """One per process: tokens and turns are shared by all jobs; ``elsewhere`` are other processes that write."""

    settings: ServerSettings
    transport: Transport
    elsewhere: Elsewhere | None = None
    tokens: TokenCache = field(init=False)
    _turns: dict[int, Turn] = field(default_factory=dict)
    _slug: str = ""

    def __post_init__(self) -> None:
        self.tokens = TokenCache(self._ask_token)

    def client(self, installation: int, repository: int, full_name: str) -> Client:
        """A client for the repository ``full_name`` ("owner/name") with the id ``repository``."""
        turn = self._turns.setdefault(installation, Turn(self.settings.pace.write_interval, installation, self.elsewhere))
        return Client(self.transport, self.tokens, self.settings.pace, turn, installation, repository, full_name)

    async def granted(self, installation: int) -> Permissions:
        """What the owner of ``installation`` has agreed to now; they may agree to more, or to less, at any time."""
        answer = await repeated_read(self.settings.pace, lambda: self._as_app("GET", f"/app/installations/{installation}"))
        granted: Permissions = answer.data["permissions"]
        return granted

    async def login(self) -> str:
        """The login under which the App writes."""
        return f"{await self.slug()}[bot]"

    async def slug(self) -> str:
        """The App's name in addresses."""
        if not self._slug:
            answer = await repeated_read(self.settings.pace, lambda: self._as_app("GET", "/app"))
            self._slug = answer.data["slug"]
        return self._slug

    async def failed_deliveries(self, since: float) -> list[FailedDelivery]:
        """The failed attempts since then (seconds since the epoch), the newest first."""
        found: list[FailedDelivery] = []
        params = {"status": "failure", "per_page": str(_PAGE)}
        for _ in range(_MAX_PAGES):
            answer = await repeated_read(self.settings.pace, lambda: self._as_app("GET", "/app/hook/deliveries", params=dict(params)))
            attempts = [_failed_delivery(each) for each in answer.data]
            found += [attempt for attempt in attempts if attempt.at.timestamp() >= since]
            cursor = _CURSOR.search(answer.headers.get("Link", ""))
            if cursor is None or len(found) % _PAGE:
                break
            params["cursor"] = cursor[1]
        return found

    async def redeliver(self, attempt: int) -> None:
        """Have GitHub deliver once more what ``attempt`` did not bring."""
        await repeated_read(self.settings.pace, lambda: self._as_app("POST", f"/app/hook/deliveries/{attempt}/attempts"))

    async def _ask_token(self, installation: int, body: dict[str, Any]) -> Any:
        path = f"/app/installations/{installation}/access_tokens"
        # A token that was made and lost on the way does no harm: asking may be repeated like a read.
        return (await repeated_read(self.settings.pace, lambda: self._as_app("POST", path, body))).data

    async def _as_app(self, method: str, path: str, json: object = None, params: Mapping[str, str] | None = None) -> Answer:
        return await self.transport.send(method, path, app_jwt(self.settings.app_id, self.settings.private_key), json, params)


def _failed_delivery(value: dict[str, Any]) -> FailedDelivery:
    return FailedDelivery(value["id"], value["guid"], value["event"], datetime.fromisoformat(value["delivered_at"]))
