"""Installation access tokens: an hour long, for some repositories and permissions, in both formats that GitHub hands out."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

import jwt

from simulator.errors import ApiError, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.accounts import Installation, Level
    from simulator.platform import Platform

LIFETIME = timedelta(hours=1)
TokenFormat = Literal["opaque", "stateless"]

_RANKS: dict[str, int] = {"read": 1, "write": 2, "admin": 3}
_OPAQUE_LENGTH = 36
_STATELESS_NONCE_LENGTH = 180


@dataclass(frozen=True, slots=True)
class InstallationToken:
    """What a token stands for. `repositories` is None for all that the installation reaches."""

    text: str
    installation_id: int
    permissions: dict[str, Level]
    repositories: frozenset[int] | None
    expires_at: datetime

    def allows(self, permission: str, level: Level) -> bool:
        """Whether the token carries a permission at that level or above."""
        granted = self.permissions.get(permission)
        return granted is not None and _RANKS[granted] >= _RANKS[level]


class TokenTable:
    """All tokens that were handed out."""

    def __init__(self, platform: Platform) -> None:
        self.format: TokenFormat = "opaque"
        self._platform = platform
        self._tokens: dict[str, InstallationToken] = {}

    def issue(self, installation: Installation, body: Mapping[str, object], wanted: TokenFormat) -> InstallationToken:
        """Make a token for what the body asks for: everything where it is silent.

        Raises:
            ApiError: 422, a permission or repository that the installation does not have.

        """
        asked = body.get("permissions")
        permissions: dict[str, Level] = {**installation.permissions}
        if isinstance(asked, dict):
            held = InstallationToken("", 0, installation.permissions, None, self._platform.clock.now())
            if not all(held.allows(name, level) for name, level in asked.items()):
                raise invalid("The permissions requested are not granted to this installation.")
            permissions = {"metadata": "read", **asked}
        token = InstallationToken(
            text=_opaque() if wanted == "opaque" else _stateless(self._platform.app.id),
            installation_id=installation.id,
            permissions=permissions,
            repositories=self._repositories(installation, body),
            expires_at=self._platform.clock.now() + LIFETIME,
        )
        self._tokens[token.text] = token
        return token

    def find(self, text: str) -> InstallationToken:
        """The token of that text.

        Raises:
            ApiError: 401, it is unknown, expired or revoked; 403, its installation is suspended.

        """
        token = self._tokens.get(text)
        installation = None if token is None else self._platform.installations.get(token.installation_id)
        if token is None or installation is None or token.expires_at <= self._platform.clock.now():
            raise ApiError(401, "Bad credentials")
        if installation.suspended_at is not None:
            raise ApiError(403, "This installation has been suspended")
        return token

    def revoke(self, token: InstallationToken) -> None:
        """Forget a token."""
        del self._tokens[token.text]

    def revoke_all(self) -> None:
        """Forget every token, as when somebody resets them."""
        self._tokens.clear()

    def _repositories(self, installation: Installation, body: Mapping[str, object]) -> frozenset[int] | None:
        names, ids = body.get("repositories"), body.get("repository_ids")
        if not isinstance(names, list) and not isinstance(ids, list):
            return None
        reachable = self._platform.reachable(installation)
        by_name = {repository.name.lower(): repository.id for repository in reachable}
        chosen = {by_name.get(str(name).lower()) for name in names or []} if isinstance(names, list) else set()
        if isinstance(ids, list):
            chosen |= {number if number in by_name.values() else None for number in ids}
        known = frozenset(number for number in chosen if number is not None)
        if None in chosen:
            raise invalid("There is at least one repository that does not exist or is not accessible to the parent installation.")
        return known


def _opaque() -> str:
    alphabet = string.ascii_letters + string.digits
    return "ghs_" + "".join(secrets.choice(alphabet) for _ in range(_OPAQUE_LENGTH))


def _stateless(app_id: int) -> str:
    claims = {"iss": "simulator", "jti": secrets.token_urlsafe(_STATELESS_NONCE_LENGTH)}
    return f"ghs_{app_id}_" + jwt.encode(claims, secrets.token_hex(32), algorithm="HS256")
