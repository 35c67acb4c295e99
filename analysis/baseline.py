"""Findings that were there when a project began to be checked: kept in a file by fingerprint, hidden and counted from then on.

Pure: bytes in, bytes out. Since a fingerprint is made of rule, function and statement, moved lines stay hidden, and an edited statement does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from analysis.finding import Finding
from analysis.report import Report

_VERSION = 1


class BaselineError(Exception):
    """Bytes that are no baseline; the message is a clause about the file."""


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One finding; ``path`` and ``message`` are for the reader, the fingerprint alone decides."""

    path: str
    rule: str
    fingerprint: str
    message: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of one file."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Baseline:
        """All of ``findings``, in an order that gives small diffs."""
        return cls(tuple(sorted({Entry(each.span.path, each.rule, each.fingerprint, each.message) for each in findings})))

    def hide(self, report: Report) -> Report:
        """``report`` with the findings of the baseline set apart."""
        known = {entry.fingerprint for entry in self.entries}
        return replace(
            report,
            findings=tuple(each for each in report.findings if each.fingerprint not in known),
            baselined=(*report.baselined, *(each for each in report.findings if each.fingerprint in known)),
        )

    def gone(self, report: Report, paths: Iterable[str]) -> tuple[Entry, ...]:
        """Entries of ``paths`` that nothing in ``report`` answers to any more."""
        found = {each.fingerprint for each in (*report.findings, *report.baselined, *report.suppressed)}
        looked_at = frozenset(paths)
        return tuple(entry for entry in self.entries if entry.path in looked_at and entry.fingerprint not in found)


def to_bytes(baseline: Baseline) -> bytes:
    """The file: JSON with an entry a line."""
    rows = [
        json.dumps({"path": entry.path, "rule": entry.rule, "fingerprint": entry.fingerprint, "message": entry.message}, ensure_ascii=False)
        for entry in baseline.entries
    ]
    listed = ",\n".join(f"  {row}" for row in rows)
    return f'{{"version": {_VERSION}, "findings": [\n{listed}\n]}}\n'.encode("utf-8", "surrogatepass")


def from_bytes(raw: bytes) -> Baseline:
    """The inverse of ``to_bytes``. Raises BaselineError."""
    try:
        document = json.loads(raw.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        raise BaselineError(f"is not UTF-8: byte {error.start} cannot be read") from error
    except json.JSONDecodeError as error:
        raise BaselineError(f"is not JSON: line {error.lineno}: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise BaselineError("is not a baseline: it is nested too deep or holds numbers that are too long") from error
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise BaselineError('is not a baseline: it holds no list "findings"; --write-baseline writes one')
    if document.get("version") != _VERSION:
        raise BaselineError(f"is a baseline of version {document.get('version')!r}, and this Preflight reads {_VERSION}: write it again with --write-baseline")
    return Baseline(tuple(_entry(number, value) for number, value in enumerate(document["findings"], 1)))


def _entry(number: int, value: object) -> Entry:
    names = ("path", "rule", "fingerprint", "message")
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in names):
        raise BaselineError(f"is not a baseline: finding {number} needs the strings path, rule, fingerprint and message")
    return Entry(*(value[name] for name in names))
