"""What a review leaves for the next one of the same repository: facts of files, and estimates with the contents that they were read from.

A kept estimate answers for any commit that shows the same; so the base, which most pull requests share, is estimated once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Self

from analysis.consulted import Watched
from analysis.facts import Definition, Facts
from analysis.snapshot import Snapshot
from bot.review.estimate_json import estimate_from_json
from estimator.estimate import Estimate
from estimator.report import estimate_document
from estimator.request import Request

Json = dict[str, Any]

#: The oldest go first.
_MOST_ESTIMATES, _MOST_FACTS = 64, 20_000
#: New facts of one review, as JSON; those of a first sight beyond that are read again.
_MOST_CHARACTERS = 8_000_000


@dataclass(frozen=True, slots=True)
class Seen:
    """Estimates, and what they rest on: the request with its releases of libraries, all paths, the hash of each file that was asked for (None: none there)."""

    request: str
    paths: str
    files: Mapping[str, str | None]
    estimates: tuple[Estimate, ...]

    @classmethod
    def by(cls, request: Request, snapshot: Snapshot, contents: Watched, estimates: tuple[Estimate, ...]) -> Self:
        """The ``estimates`` of ``snapshot``, for which ``contents`` were asked."""
        return cls(repr(request), _digest(snapshot), {path: _hash(raw) for path, raw in contents.asked.items()}, estimates)

    def holds(self, snapshot: Snapshot) -> bool:
        """Whether ``snapshot`` shows the same."""
        return self.paths == _digest(snapshot) and all(_hash(snapshot.contents.get(path)) == kept for path, kept in self.files.items())

    def to_json(self) -> Json:
        """The form that is kept."""
        estimates = [estimate_document(each) for each in self.estimates]
        return {"request": self.request, "paths": self.paths, "files": dict(self.files), "estimates": estimates}


@dataclass(slots=True)
class Kept:
    """What is known from before, ``seen`` newest last, and which of it this review has added."""

    facts: MutableMapping[str, Facts] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    _old_facts: int = 0
    _new: list[Seen] = field(default_factory=list)
    _expected: list[Seen] = field(default_factory=list)

    @classmethod
    def read(cls, raw: bytes) -> Self:
        """What ``added`` and ``merged`` have made; nothing where it is none of theirs."""
        try:
            value = json.loads(raw or b"{}")
            facts = {key: _facts(each) for key, each in value.get("facts", {}).items()}
            return cls(facts, [_seen(each) for each in value.get("seen", ())], len(facts))
        except (ValueError, KeyError, TypeError):
            return cls()

    def of(self, snapshot: Snapshot, request: Request) -> Seen | None:
        """The estimates that ``snapshot`` would get, if they were kept."""
        name = repr(request)
        return next((each for each in (*reversed(self.seen), *self._expected) if each.request == name and each.holds(snapshot)), None)

    def expect(self, seen: Iterable[Seen]) -> None:
        """Let ``seen`` answer in this review as well: nobody begins with its commit once the review is over."""
        self._expected.extend(seen)

    def keep(self, seen: Seen) -> None:
        """Remember ``seen``, unless it is remembered, or something of it is lost on the way through JSON."""
        if any((each.request, each.paths, each.files) == (seen.request, seen.paths, seen.files) for each in self.seen):
            return
        documents = seen.to_json()["estimates"]
        if documents and tuple(map(estimate_from_json, json.loads(json.dumps(documents)))) == seen.estimates:
            self.seen.append(seen)
            self._new.append(seen)

    def added(self) -> Json:
        """What is new, as JSON."""
        facts, characters = {}, 0
        for key, value in list(self.facts.items())[self._old_facts :]:
            facts[key] = _facts_json(value)
            characters += len(json.dumps(facts[key]))
            if characters > _MOST_CHARACTERS:
                break
        return {"facts": facts, "seen": [each.to_json() for each in self._new]} if facts or self._new else {}


def merged(raw: bytes, added: Json) -> bytes:
    """What was kept (``raw``, "" for nothing) and what a review has ``added``, within bounds."""
    before = json.loads(raw or b"{}")
    facts = list((before.get("facts", {}) | added["facts"]).items())[-_MOST_FACTS:]
    seen = [*before.get("seen", ()), *added["seen"]][-_MOST_ESTIMATES:]
    return json.dumps({"facts": dict(facts), "seen": seen}, separators=(",", ":")).encode()


def _seen(value: Json) -> Seen:
    return Seen(value["request"], value["paths"], value["files"], tuple(map(estimate_from_json, value["estimates"])))


def _facts_json(facts: Facts) -> list[Any]:
    definitions = [[each.qualname, each.start, each.end, sorted(each.calls), each.is_class] for each in facts.definitions]
    return [list(facts.imports), definitions, list(facts.data_files), facts.script]


def _facts(value: list[Any]) -> Facts:
    imports, definitions, data_files, script = value
    found = (Definition(name, start, end, frozenset(calls), is_class) for name, start, end, calls, is_class in definitions)
    return Facts(tuple(imports), tuple(found), tuple(data_files), script)


def _digest(snapshot: Snapshot) -> str:
    """All paths, and which of them were read: names of modules are looked up among them."""
    return hashlib.sha256(_lines(snapshot.paths) + b"\0" + _lines(snapshot.contents)).hexdigest()


def _lines(paths: Iterable[str]) -> bytes:
    return "\n".join(sorted(paths)).encode("utf-8", "surrogateescape")


def _hash(raw: bytes | None) -> str | None:
    return None if raw is None else hashlib.sha256(raw).hexdigest()
