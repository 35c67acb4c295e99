"""What is found today against what was read: labelled, new, gone, and how often the rules were right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from corpus.labels import Label, Labelled, Sheet
from corpus.observing import Observation, Observed


@dataclass(frozen=True, slots=True)
class Comparison:
    """``known`` findings with their labels, ``new`` ones that nobody has read, and labels whose finding is ``gone``."""

    known: tuple[tuple[Observed, Labelled], ...]
    new: tuple[Observed, ...]
    gone: tuple[Labelled, ...]


def compare(observation: Observation, sheet: Sheet) -> Comparison:
    """Pair errors and warnings with labels: by rule, path and fingerprint."""
    labelled = {(each.rule, each.path, each.fingerprint): each for each in sheet.findings}
    known: list[tuple[Observed, Labelled]] = []
    new: list[Observed] = []
    for found in observation.alarms:
        label = labelled.pop((found.rule, found.path, found.fingerprint), None)
        if label is None:
            new.append(found)
        else:
            known.append((found, label))
    return Comparison(tuple(known), tuple(new), tuple(labelled.values()))


def recorded(observation: Observation, sheet: Sheet) -> Sheet:
    """The sheet as it is today: labels of what is still found, new findings without one, nothing that is gone."""
    comparison = compare(observation, sheet)
    kept = [replace(label, severity=found.severity, line=found.line) for found, label in comparison.known]
    new = [Labelled(found.rule, found.severity, found.path, found.line, found.fingerprint) for found in comparison.new]
    return replace(sheet, commit=observation.repository.commit, files=observation.files, lines=observation.lines, findings=(*kept, *new))


@dataclass(frozen=True, slots=True)
class Tally:
    """How many findings of a kind were what."""

    labels: Counter[Label]
    unread: int = 0
    disputed: int = 0

    @property
    def found(self) -> int:
        """All of them."""
        return self.labels.total() + self.unread + self.disputed

    @property
    def right(self) -> int:
        """Those that are as they say."""
        return self.labels[Label.DEFECT]

    @property
    def judged(self) -> int:
        """Those of which the readers could tell."""
        return self.labels.total() - self.labels[Label.UNRESOLVED] + self.disputed

    @property
    def precision(self) -> str:
        """``7 of 8 (88 %)``; a finding about which the readers differ counts as wrong."""
        return f"{self.right} of {self.judged} ({100 * self.right / self.judged:.0f} %)" if self.judged else "none read"


def tally(findings: Iterable[Labelled]) -> Tally:
    """Count what ``findings`` were."""
    labels: Counter[Label] = Counter()
    unread = disputed = 0
    for each in findings:
        if each.disputed:
            disputed += 1
        elif each.label is None:
            unread += 1
        else:
            labels[each.label] += 1
    return Tally(labels, unread, disputed)
