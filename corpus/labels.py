"""What findings were when somebody read them: one JSON file per repository."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from corpus.failure import CorpusError
from corpus.manifest import HERE, Repository


class Label(Enum):
    """What a finding was.

    ``DEFECT``: as it says. ``INTENDED``: so, and meant to be so. ``LIMITATION``: wrong for a reason that the source alone does not tell.
    ``FALSE``: wrong. ``UNRESOLVED``: the reader could not tell; it counts for nothing.
    """

    DEFECT = "defect"
    INTENDED = "intended"
    LIMITATION = "limitation"
    FALSE = "false"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader made of a finding, and why in one line."""

    label: Label
    why: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """A finding as it was when it was read. ``first`` and ``second`` are independent readers (None: not read yet)."""

    rule: str
    severity: str
    path: str
    line: int
    fingerprint: str
    first: Reading | None = None
    second: Reading | None = None

    @property
    def label(self) -> Label | None:
        """What both readers say, or the only one; None where nobody has read it or the two differ."""
        labels = {reading.label for reading in (self.first, self.second) if reading is not None}
        return labels.pop() if len(labels) == 1 else None

    @property
    def disputed(self) -> bool:
        """Whether the two readers differ."""
        return self.first is not None and self.second is not None and self.first.label is not self.second.label


@dataclass(frozen=True, slots=True)
class Sheet:
    """The findings of one repository, and how much of its code was interpreted when they were recorded."""

    repository: str
    commit: str
    files: int = 0
    lines: int = 0
    findings: tuple[Labelled, ...] = ()


def sheet_path(repository: Repository, folder: Path = HERE) -> Path:
    """The file that holds the labels of ``repository``."""
    return folder / "labels" / f"{repository.folder}.json"


def read_sheet(repository: Repository, folder: Path = HERE) -> Sheet:
    """The labels of ``repository``; an empty sheet if there are none yet. Raises CorpusError."""
    path = sheet_path(repository, folder)
    if not path.exists():
        return Sheet(repository.name, repository.commit)
    try:
        stated = json.loads(path.read_bytes())
        return Sheet(**{**stated, "findings": tuple(_labelled(entry) for entry in stated["findings"])})
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{path} holds no labels: {error}; write it with python -m corpus run --record") from error


def write_sheet(sheet: Sheet, repository: Repository, folder: Path = HERE) -> None:
    """Write ``sheet``, findings in the order of their places."""
    ordered = sorted(sheet.findings, key=lambda each: (each.path, each.line, each.rule, each.fingerprint))
    stated = {
        "repository": sheet.repository,
        "commit": sheet.commit,
        "files": sheet.files,
        "lines": sheet.lines,
        "findings": [_stated(each) for each in ordered],
    }
    path = sheet_path(repository, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stated, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def reading_of(stated: dict[str, Any] | None) -> Reading | None:
    """A reading as it is written down. Raises ValueError for a label that is none."""
    return None if not stated else Reading(Label(stated["label"]), stated["why"])


def _labelled(entry: dict[str, Any]) -> Labelled:
    return Labelled(**{**entry, "first": reading_of(entry["first"]), "second": reading_of(entry["second"])})


def _stated(each: Labelled) -> dict[str, Any]:
    readings = {
        name: None if reading is None else {"label": reading.label.value, "why": reading.why}
        for name, reading in (("first", each.first), ("second", each.second))
    }
    return {"rule": each.rule, "severity": each.severity, "path": each.path, "line": each.line, "fingerprint": each.fingerprint, **readings}
