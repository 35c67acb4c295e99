"""Jobs and answers as JSON, the only thing that passes between the analysis and the process that holds LibCST."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from analysis.fixes.change import Change, ChangeRefusedError
from analysis.source import Span

_KINDS: dict[str, type[Change]] = {kind.__name__: kind for kind in get_args(Change)}


@dataclass(frozen=True, slots=True)
class Job:
    """One change to make in ``text``, whole top-level statements from which its spans count."""

    text: str
    newline: str
    indent: str
    change: Change


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The text after the change."""

    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """No change was made; ``because`` is a clause."""

    because: str


def pack_jobs(jobs: Sequence[Job]) -> bytes:
    """JSON of the jobs."""
    return json.dumps([asdict(job) | {"kind": type(job.change).__name__} for job in jobs]).encode()


def unpack_jobs(data: bytes) -> list[Job]:
    """The jobs of ``pack_jobs``."""
    return [Job(entry["text"], entry["newline"], entry["indent"], _change(entry["kind"], entry["change"])) for entry in json.loads(data)]


def pack_answers(answers: Sequence[Rewritten | Refused]) -> bytes:
    """JSON of the answers."""
    return json.dumps([asdict(answer) for answer in answers]).encode()


def unpack_answers(data: bytes) -> list[Rewritten | Refused]:
    """The answers of ``pack_answers``. Raises ChangeRefusedError for anything else: the process that wrote it has read hostile code."""
    try:
        entries = json.loads(data)
        return [Rewritten(entry["text"]) if "text" in entry else Refused(entry["because"]) for entry in entries]
    except (ValueError, TypeError, KeyError) as error:
        raise ChangeRefusedError("the process that edits did not answer") from error


def _change(kind: str, fields: dict[str, Any]) -> Change:
    return _KINDS[kind](**{name: _value(value) for name, value in fields.items()})


def _value(value: Any) -> Any:
    match value:
        case dict():
            return Span(**value)
        case list():
            return tuple(value)
    return value
