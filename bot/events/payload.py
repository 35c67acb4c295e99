"""Reading a webhook's payload: what is missing or of another type is named, never a KeyError."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.job import Job, Json

T = TypeVar("T")

SKIP_LABEL = "preflight: skip"


class MalformedPayloadError(ValueError):
    """The payload is not what GitHub sends for this event."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery that asks for nothing, and why."""

    reason: str


#: From the delivery's GUID and the payload to what is to be done.
Handler = Callable[[str, Json], Job | Ignored]


def read(payload: Json, path: str, kind: type[T]) -> T:
    """The value at ``path`` ("pull_request.head.sha") of type ``kind``. Raises MalformedPayloadError."""
    value: Any = payload
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            raise MalformedPayloadError(f"the payload lacks {path}")
        value = value[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise MalformedPayloadError(f"{path} is not of type {kind.__name__}")
    return value


def repository_facts(payload: Json) -> Json:
    """What every job needs to speak to GitHub: installation, repository id and name."""
    return {
        "installation": read(payload, "installation.id", int),
        "repository": read(payload, "repository.id", int),
        "full_name": read(payload, "repository.full_name", str),
    }
