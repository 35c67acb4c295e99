"""Findings for a second reader: where they stand and what they say, without what anybody made of them; and the way back into the labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.source import SourceFile
from corpus.failure import CorpusError
from corpus.labels import Label, Labelled, Reading, Sheet, read_sheet, reading_of, write_sheet
from corpus.manifest import Repository
from corpus.observing import Observation, Observed

#: Lines shown before and after a finding.
_AROUND = 12


def blind(observation: Observation) -> Iterator[dict[str, Any]]:
    """One entry per error and warning, with empty fields for the reader. The excerpt is for reading only: it is kept nowhere."""
    for found in observation.alarms:
        yield {
            "repository": observation.repository.name,
            "commit": observation.repository.commit,
            "rule": found.rule,
            "severity": found.severity,
            "path": found.path,
            "line": found.line,
            "fingerprint": found.fingerprint,
            "message": found.message,
            "evidence": [f"{step.path}:{step.line} {step.says}" for step in found.evidence],
            "excerpt": _excerpt(observation, found),
            "label": "",
            "why": "",
        }


def _excerpt(observation: Observation, found: Observed) -> list[str]:
    source = observation.snapshot.source(found.path)
    if not isinstance(source, SourceFile):
        return []
    lines = source.content.decode("utf-8", "replace").splitlines()
    first = max(0, found.line - 1 - _AROUND)
    return [f"{number:5} {line}" for number, line in enumerate(lines[first : found.line + _AROUND], first + 1)]


def merge(file: Path, repositories: Sequence[Repository], folder: Path, *, first: bool = False) -> int:
    """Take the readings of ``file`` into the labels; how many were taken. Raises CorpusError for one that fits no recorded finding."""
    try:
        entries: list[dict[str, Any]] = json.loads(file.read_bytes())
        read = [(entry, reading) for entry in entries if (reading := reading_of(entry if entry["label"] else None)) is not None]
    except (OSError, ValueError, KeyError, TypeError) as error:
        choices = ", ".join(label.value for label in Label)
        raise CorpusError(f"{file} is no list of readings: {error}; fill in what python -m corpus blind wrote, with the labels {choices}") from error
    by_name = {repository.name: repository for repository in repositories}
    for name in sorted({entry["repository"] for entry, _ in read}):
        if name not in by_name:
            raise CorpusError(f"{file}: {name} is not in the manifest")
        sheet = read_sheet(by_name[name], folder)
        for entry, reading in read:
            if entry["repository"] == name:
                sheet = _with_reading(sheet, entry, reading, file, first=first)
        write_sheet(sheet, by_name[name], folder)
    return len(read)


def _with_reading(sheet: Sheet, entry: dict[str, Any], reading: Reading, file: Path, *, first: bool) -> Sheet:
    def is_meant(each: Labelled) -> bool:
        return (each.rule, each.path, each.fingerprint) == (entry["rule"], entry["path"], entry["fingerprint"])

    if not any(is_meant(each) for each in sheet.findings):
        place = f"{entry['repository']} {entry['path']}:{entry['line']}"
        raise CorpusError(f"{file}: {entry['rule']} at {place} is not among the recorded findings; record them first: python -m corpus run --record")
    read = (replace(each, first=reading) if first else replace(each, second=reading) for each in sheet.findings if is_meant(each))
    others = (each for each in sheet.findings if not is_meant(each))
    return replace(sheet, findings=(*others, *read))
