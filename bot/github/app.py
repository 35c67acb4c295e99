"""The App itself: who it is, its tokens, and clients for its installations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from bot.github.app_auth import Permissions, TokenCache, app_jwt
from bot.github.client import Client
from bot.github.pacing import Turn, repeated_read
from bot.github.transport import Answer, Transport
from bot.settings import ServerSettings


@dataclass(slots=True)
class App:
    """One per process: tokens and turns are shared by all jobs."""

    settings: ServerSettings
    transport: Transport
    tokens: TokenCache = field(init=False)
    _turns: defaultdict[int, Turn] = field(init=False)
    _slug: str = ""

    def __post_init__(self) -> None:
        self.tokens = TokenCache(self._ask_token)
        self._turns = defaultdict(lambda: Turn(self.settings.pace.write_interval))

    def client(self, installation: int, repository: int, full_name: str) -> Client:
        """A client for the repository ``full_name`` ("owner/name") with the id ``repository``."""
        return Client(self.transport, self.tokens, self.settings.pace, self._turns[installation], installation, repository, full_name)

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

    async def _ask_token(self, installation: int, body: dict[str, Any]) -> Any:
        path = f"/app/installations/{installation}/access_tokens"
        # A token that was made and lost on the way does no harm: asking may be repeated like a read.
        return (await repeated_read(self.settings.pace, lambda: self._as_app("POST", path, body))).data

    async def _as_app(self, method: str, path: str, json: object = None) -> Answer:
        return await self.transport.send(method, path, app_jwt(self.settings.app_id, self.settings.private_key), json)
