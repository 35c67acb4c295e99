"""What keeps the bot from working, found out before a pull request does: key, clock, reachability, permissions, events, storage."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import jwt

from bot.app import database_of
from bot.database import DatabaseTakenError
from bot.github.app_auth import app_jwt
from bot.github.errors import GitHubError, TransientError
from bot.github.transport import Answer, Transport, UnauthorizedError
from bot.metrics import Metrics
from bot.settings import ServerSettings
from bot.setup.manifest import DEFAULT_PERMISSIONS, EVENTS

#: GitHub refuses a token from further in the future; ours is dated back by as much.
_MOST_SKEW_SECONDS = 60.0
_LEVELS = {"read": 1, "write": 2, "admin": 3}
_TIMEOUT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at: ``good`` or not, and a sentence that says what to do."""

    good: bool
    says: str


async def examine(settings: ServerSettings) -> AsyncIterator[Diagnosis]:
    """Everything that can be found out from here. That GitHub reaches us cannot: its page of deliveries says so."""
    yield await asyncio.to_thread(_state_folder, settings)
    yield await asyncio.to_thread(_database, settings)
    try:
        token = app_jwt(settings.app_id, settings.private_key)
    except (jwt.InvalidKeyError, ValueError) as error:
        yield Diagnosis(good=False, says=f"The private key cannot sign: {error}. Make a new one on the App's page.")
        return
    async with Transport(settings.api_url, settings.graphql_url, _TIMEOUT_SECONDS, Metrics()) as transport:
        try:
            answer = await transport.send("GET", "/app", token)
        except UnauthorizedError:
            yield Diagnosis(
                good=False, says=f"GitHub does not take the key for App {settings.app_id}: it is another App's, was removed, or this clock is wrong."
            )
            return
        except GitHubError as error:
            reached = "cannot be reached" if isinstance(error, TransientError) else "did not answer as it should"
            yield Diagnosis(good=False, says=f"{settings.api_url} {reached}: {error}")
            return
        yield Diagnosis(good=True, says=f"{settings.api_url} knows the App {answer.data['slug']} by this key.")
        for diagnosis in (_clock(answer), _permissions(answer.data["permissions"]), _events(answer.data["events"])):
            yield diagnosis
        yield _installations((await transport.send("GET", "/app/installations", token)).data)


def _state_folder(settings: ServerSettings) -> Diagnosis:
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.state_dir) as file:
            file.write(b"\0")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Diagnosis(good=False, says=f"PREFLIGHT_STATE_DIR: {settings.state_dir} cannot be written: {error.strerror}.")
    return Diagnosis(good=True, says=f"{settings.state_dir} can be written.")


def _database(settings: ServerSettings) -> Diagnosis:
    database = database_of(settings)
    try:
        database.open()
    except DatabaseTakenError:
        return Diagnosis(good=True, says="The job database is in use by a running process.")
    except Exception as error:  # noqa: BLE001  # each driver has its own, and all of them mean this
        return Diagnosis(good=False, says=f"The job database cannot be opened: {str(error).strip().splitlines()[0]}.")
    database.close()
    holds = "several processes may share it" if database.shared else "one process holds it alone"
    return Diagnosis(good=True, says=f"The job database can be opened; {holds}.")


def _clock(answer: Answer) -> Diagnosis:
    skew = time.time() - parsedate_to_datetime(answer.headers["Date"]).timestamp()
    if abs(skew) > _MOST_SKEW_SECONDS:
        direction = "ahead of" if skew > 0 else "behind"
        return Diagnosis(good=False, says=f"This clock is {abs(skew):.0f} s {direction} GitHub's: its tokens will be refused. Set it by NTP.")
    return Diagnosis(good=True, says="This clock agrees with GitHub's.")


def _permissions(granted: Mapping[str, str]) -> Diagnosis:
    missing = _missing(granted)
    if missing:
        return Diagnosis(good=False, says=f"The App lacks permissions: {', '.join(missing)}. Add them on its page; each owner has to accept them.")
    optional = {"contents": "/preflight fix answers with a patch", "security_events": "nothing goes to code scanning"}
    without = [f"{says} (no {name}: write)" for name, says in optional.items() if granted.get(name) != "write"]
    return Diagnosis(good=True, says=f"The App has the permissions it needs{'; ' + ', '.join(without) if without else ''}.")


def _missing(granted: Mapping[str, str]) -> list[str]:
    return [f"{name}: {level}" for name, level in DEFAULT_PERMISSIONS.items() if _LEVELS.get(granted.get(name, ""), 0) < _LEVELS[level]]


def _events(subscribed: list[str]) -> Diagnosis:
    missing = [event for event in EVENTS if event not in subscribed]
    if missing:
        return Diagnosis(good=False, says=f"The App does not hear of {', '.join(missing)}: subscribe to them on its page.")
    return Diagnosis(good=True, says="The App hears of every event it needs.")


def _installations(found: list[dict[str, Any]]) -> Diagnosis:
    active = [each for each in found if each["suspended_at"] is None]
    if not active:
        return Diagnosis(good=False, says="The App is installed nowhere, or suspended everywhere: install it on a repository.")
    waiting = [each for each in active if _missing(each["permissions"])]
    if waiting:
        owners = ", ".join(each["account"]["login"] for each in waiting)
        return Diagnosis(good=False, says=f"These owners have not accepted all permissions: {owners}.")
    return Diagnosis(good=True, says=f"The App is installed on {len(active)} account{'s' if len(active) != 1 else ''}.")
