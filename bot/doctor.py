"""What keeps the bot from working, found out before a pull request does: key, clock, reachability, permissions, events, storage."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from bot.app import database_of
from bot.database import DatabaseTakenError, DatabaseUnavailableError
from bot.github.app_auth import app_jwt
from bot.github.errors import GitHubError, TransientError
from bot.github.transport import Answer, Transport, UnauthorizedError
from bot.metrics import Metrics
from bot.readiness import why_no_signature, why_not_written
from bot.settings import ServerSettings
from bot.setup.manifest import DEFAULT_PERMISSIONS, EVENTS

#: GitHub refuses a token from further in the future; ours is dated back by as much.
_MOST_SKEW_SECONDS = 60.0
_LEVELS = {"read": 1, "write": 2, "admin": 3}
_TIMEOUT_SECONDS = 15.0
_TAKEN = range(200, 300)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at: ``good`` or not, and a sentence that says what to do."""

    good: bool
    says: str


async def examine(settings: ServerSettings) -> AsyncIterator[Diagnosis]:
    """Everything that can be found out from here; whether GitHub reaches us is told by what became of its latest delivery."""
    yield await asyncio.to_thread(_state_folder, settings)
    yield await asyncio.to_thread(_database, settings)
    if reason := why_no_signature(settings):
        yield Diagnosis(good=False, says=reason)
        return
    token = app_jwt(settings.app_id, settings.private_key)
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
        yield _deliveries((await transport.send("GET", "/app/hook/deliveries", token, params={"per_page": "1"})).data)


def _state_folder(settings: ServerSettings) -> Diagnosis:
    reason = why_not_written(settings.state_dir)
    return Diagnosis(not reason, reason or f"{settings.state_dir} can be written.")


def _database(settings: ServerSettings) -> Diagnosis:
    database = database_of(settings)
    try:
        database.open()
    except DatabaseTakenError:
        return Diagnosis(good=True, says="The job database is in use by a running process.")
    except DatabaseUnavailableError as error:
        return Diagnosis(good=False, says=f"{error}.")
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


def _deliveries(latest: list[dict[str, Any]]) -> Diagnosis:
    if not latest:
        return Diagnosis(good=True, says="GitHub has delivered nothing yet; its first delivery will show whether it reaches this server.")
    (last,) = latest
    what = f"its latest delivery ({last['event']}, {last['delivered_at']})"
    if last["status_code"] in _TAKEN:
        return Diagnosis(good=True, says=f"GitHub reaches this server: {what} was taken.")
    ended = f"{what} ended with {last['status_code']} ({last['status']})"
    return Diagnosis(good=False, says=f"GitHub does not reach this server: {ended}. Look at the webhook's address and secret on the App's page.")
