"""The App's own identity: short-lived JWTs, and tokens for one repository with the least permissions."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from jwt.algorithms import RSAAlgorithm

Permissions = Mapping[str, str]

#: What the bot may do with an ordinary token: also what app.yml asks for.
PERMISSIONS: Permissions = {"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write"}

_JWT_SECONDS = 540  # GitHub takes at most ten minutes
_CLOCK_SKEW_SECONDS = 60
_EXPIRY_MARGIN_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Token:
    """An installation token and when it ends, in seconds since the epoch."""

    value: str = field(repr=False)
    expires: float


_Key = tuple[int, int, tuple[tuple[str, str], ...]]

#: Asks GitHub for a token: (installation, body of the request) to the answer's JSON.
Ask = Callable[[int, dict[str, Any]], Awaitable[Any]]


def app_jwt(app_id: int, private_key: str) -> str:
    """A JWT that speaks for the App, backdated against clocks that run ahead."""
    now = int(time.time())
    claims = {"iat": now - _CLOCK_SKEW_SECONDS, "exp": now + _JWT_SECONDS, "iss": str(app_id)}
    return jwt.encode(claims, _read(private_key), algorithm="RS256")


@lru_cache(maxsize=1)
def _read(private_key: str) -> RSAPrivateKey:
    """The key that the PEM text holds: checking it takes some 60 ms, in which the server would do nothing else."""
    algorithm = RSAAlgorithm(RSAAlgorithm.SHA256)
    key = algorithm.prepare_key(private_key)
    if not isinstance(key, RSAPrivateKey):
        raise jwt.InvalidKeyError("the App's key is a public one")
    return key


@dataclass(slots=True)
class TokenCache:
    """Installation tokens by installation and repository, each asked for once until shortly before it ends."""

    ask: Ask
    _tokens: dict[_Key, Token] = field(default_factory=dict)
    _locks: defaultdict[_Key, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def token(self, installation: int, repository: int, permissions: Permissions = PERMISSIONS) -> str:
        """A token for ``repository`` (its id) alone, with ``permissions`` alone."""
        key = _key(installation, repository, permissions)
        async with self._locks[key]:
            known = self._tokens.get(key)
            if known is None or known.expires - _EXPIRY_MARGIN_SECONDS < time.time():
                known = await self._new(installation, repository, permissions)
                self._tokens[key] = known
            return known.value

    def forget(self, installation: int, repository: int, permissions: Permissions = PERMISSIONS) -> None:
        """Drop a token that GitHub no longer accepts."""
        self._tokens.pop(_key(installation, repository, permissions), None)

    async def _new(self, installation: int, repository: int, permissions: Permissions) -> Token:
        answer = await self.ask(installation, {"repository_ids": [repository], "permissions": dict(permissions)})
        return Token(answer["token"], datetime.fromisoformat(answer["expires_at"]).timestamp())


def _key(installation: int, repository: int, permissions: Permissions) -> _Key:
    return (installation, repository, tuple(sorted(permissions.items())))
