"""What became of findings: one row each with the rule's name, a hash and an outcome. No code, no path, no person.

It outlives the jobs and goes with the repository.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy import Connection, Engine, text

from bot.tables import opened

_TABLE = """
CREATE TABLE IF NOT EXISTS preflight_findings (
    repository BIGINT NOT NULL, number INTEGER NOT NULL, finding VARCHAR(32) NOT NULL, rule TEXT NOT NULL, outcome TEXT NOT NULL,
    PRIMARY KEY (repository, number, finding)
)
"""
_WRITE = """
INSERT INTO preflight_findings (repository, number, finding, rule, outcome) VALUES (:repository, :number, :finding, :rule, :outcome)
ON CONFLICT (repository, number, finding) DO UPDATE SET outcome = excluded.outcome
"""
_READ = "SELECT finding, rule, outcome FROM preflight_findings WHERE repository = :repository AND number = :number"
_COUNT = "SELECT rule, outcome, COUNT(*) FROM preflight_findings GROUP BY rule, outcome ORDER BY rule, outcome"
_FORGET = "DELETE FROM preflight_findings WHERE repository = :repository"


class Fate(StrEnum):
    """What became of a finding that was shown."""

    OPEN = "open"
    APPLIED = "applied"  # the suggested lines stand in the file
    FIXED = "fixed"  # gone in another way
    SUPPRESSED = "suppressed"  # a comment in the code silences it
    RESOLVED = "resolved"  # somebody resolved its thread and left the code
    IGNORED = "ignored"  # merged as it was


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding's rule and its fate."""

    rule: str
    fate: Fate


@dataclass(frozen=True, slots=True)
class Count:
    """How many findings of ``rule`` met ``fate``."""

    rule: str
    fate: Fate
    findings: int


@dataclass(slots=True)
class Ledger:
    """The table in the database at ``url`` ("sqlite:///…" or "postgresql://…")."""

    url: str = field(repr=False)
    _engine: Engine | None = None

    async def note(self, repository: int, number: int, entries: Mapping[str, Entry]) -> None:
        """Write the fate of findings (by digest) of a pull request; one that is there already is overwritten."""
        rows: list[dict[str, object]] = [
            {"repository": repository, "number": number, "finding": finding, "rule": one.rule, "outcome": one.fate.value} for finding, one in entries.items()
        ]
        if rows:
            await asyncio.to_thread(self._write, _WRITE, rows)

    async def of(self, repository: int, number: int) -> dict[str, Entry]:
        """What is known of a pull request's findings, by digest."""
        return await asyncio.to_thread(self._read, repository, number)

    async def forget(self, repositories: Iterable[int]) -> None:
        """Remove everything about ``repositories`` (ids)."""
        rows: list[dict[str, object]] = [{"repository": repository} for repository in repositories]
        if rows:
            await asyncio.to_thread(self._write, _FORGET, rows)

    def counts(self) -> tuple[Count, ...]:
        """All findings by rule and fate."""
        with self._begun() as connection:
            return tuple(Count(rule, Fate(fate), found) for rule, fate, found in connection.execute(text(_COUNT)))

    def close(self) -> None:
        """Let go of the database."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _write(self, statement: str, rows: list[dict[str, object]]) -> None:
        with self._begun() as connection:
            connection.execute(text(statement), rows)

    def _read(self, repository: int, number: int) -> dict[str, Entry]:
        with self._begun() as connection:
            found = connection.execute(text(_READ), {"repository": repository, "number": number})
            return {finding: Entry(rule, Fate(fate)) for finding, rule, fate in found}

    def _begun(self) -> AbstractContextManager[Connection]:
        if self._engine is None:
            self._engine = opened(self.url, _TABLE)
        return self._engine.begin()
