"""What another checker reported on some of the repositories, read by a person: its defects should be found, its false alarms should not.

``known.json`` holds them. ``ours`` is what Preflight said when that was last recorded; ``argued`` says why a defect among them is not reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from corpus.failure import CorpusError
from corpus.labels import Label
from corpus.manifest import HERE
from corpus.observing import Observation, Observed

CHECKER = "torch-preflight 0.5.0"
#: Two findings that are so many lines apart are about one thing.
_NEAR = 3
#: Rules that speak of a whole file.
_OF_FILES = frozenset({"unseeded-run"})


class Ours(Enum):
    """The severity with which Preflight reports the same thing, if it does."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Known:
    """A finding of the other checker, under the name of our rule for it."""

    repository: str
    commit: str
    path: str
    line: int
    rule: str
    label: Label
    why: str
    ours: Ours = Ours.SILENT
    argued: str = ""

    @property
    def met(self) -> bool:
        """Whether Preflight does as the label asks: reports a defect, leaves what is false alone, calls nothing an error that is intended."""
        match self.label:
            case Label.DEFECT:
                return self.ours is not Ours.SILENT
            case Label.FALSE:
                return self.ours is Ours.SILENT
            case _:
                return self.ours is not Ours.ERROR


def read_known(folder: Path = HERE) -> tuple[Known, ...]:
    """The entries of ``known.json``. Raises CorpusError."""
    path = folder / "known.json"
    try:
        stated = json.loads(path.read_bytes())
        return tuple(Known(**{**entry, "label": Label(entry["label"]), "ours": Ours(entry["ours"])}) for entry in stated)
    except FileNotFoundError:
        return ()
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{path} is malformed: {error}") from error


def write_known(entries: Iterable[Known], folder: Path = HERE) -> None:
    """Write ``known.json``."""
    stated = [{**asdict(each), "label": each.label.value, "ours": each.ours.value} for each in entries]
    (folder / "known.json").write_text(json.dumps(stated, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def judged(entries: Sequence[Known], observations: Iterable[Observation]) -> tuple[Known, ...]:
    """The entries with what is reported today; those of repositories that were not observed as they were."""
    findings = {(each.repository.name, each.repository.commit): each.findings for each in observations}
    return tuple(
        replace(entry, ours=_said(entry, findings[entry.repository, entry.commit])) if (entry.repository, entry.commit) in findings else entry
        for entry in entries
    )


def _said(entry: Known, findings: Iterable[Observed]) -> Ours:
    grave = (Ours.ERROR, Ours.WARNING, Ours.NOTICE)
    said = {Ours(found.severity) for found in findings if found.rule == entry.rule and _is_there(entry, found)}
    return next((severity for severity in grave if severity in said), Ours.SILENT)


def _is_there(entry: Known, found: Observed) -> bool:
    places = [(found.path, found.line), *((step.path, step.line) for step in found.evidence)]
    return any(path == entry.path and (entry.rule in _OF_FILES or abs(line - entry.line) <= _NEAR) for path, line in places)
