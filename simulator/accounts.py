"""People, organizations, the App and where it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

AccountType = Literal["User", "Organization", "Bot"]
Level = Literal["read", "write", "admin"]
Role = Literal["none", "read", "triage", "write", "maintain", "admin"]


@dataclass(frozen=True, slots=True)
class Account:
    """A user, an organization or the bot account of an App."""

    id: int
    login: str
    type: AccountType


@dataclass(frozen=True, slots=True)
class App:
    """The registered GitHub App.

    `permissions` and `events` are what its manifest asks for; `bot` is the account that it writes as.
    """

    id: int
    slug: str
    name: str
    owner: Account
    bot: Account
    permissions: dict[str, Level]
    events: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Installation:
    """The App on one account. `repositories` is None for all of them, else the chosen repository ids."""

    id: int
    account: Account
    permissions: dict[str, Level]
    repositories: frozenset[int] | None
    created_at: datetime
    suspended_at: datetime | None = None
