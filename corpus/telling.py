"""What a run says on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpus.comparing import Comparison, compare, tally
from corpus.known import Known
from corpus.labels import Label, Labelled, Sheet
from corpus.observing import Observation


def repository_lines(observation: Observation, sheet: Sheet) -> Iterator[str]:
    """One repository: its count, then what is new, gone or disputed, one line each."""
    comparison = compare(observation, sheet)
    counted = tally(label for _, label in comparison.known)
    errors = sum(found.severity == "error" for found in observation.alarms)
    yield (
        f"{observation.repository.name}: {observation.files} files, {observation.lines} lines interpreted · {errors} errors, "
        f"{len(observation.alarms) - errors} warnings · right: {counted.precision}"
    )
    yield from (f"  problem   {problem}" for problem in observation.problems)
    yield from _changes(comparison)


def _changes(comparison: Comparison) -> Iterator[str]:
    yield from (f"  new       {found.severity} {found.rule} {found.path}:{found.line} {found.message}" for found in comparison.new)
    yield from (f"  gone      {label.rule} {label.path}:{label.line} ({_said(label)})" for label in comparison.gone)
    yield from (
        f"  moved     {label.rule} {label.path}: {label.severity} is now {found.severity}"
        for found, label in comparison.known
        if found.severity != label.severity
    )
    yield from (f"  disputed  {label.rule} {label.path}:{label.line} ({_said(label)})" for _, label in comparison.known if label.disputed)


def _said(label: Labelled) -> str:
    readings = [reading.label.value for reading in (label.first, label.second) if reading is not None]
    return " against ".join(readings) or "not read"


def rule_lines(findings: Sequence[Labelled]) -> Iterator[str]:
    """Precision by rule, and of errors and of warnings."""
    for rule in sorted({each.rule for each in findings}):
        yield f"  {rule}: {tally(each for each in findings if each.rule == rule).precision}"
    for severity in ("error", "warning"):
        yield f"{severity}s right: {tally(each for each in findings if each.severity == severity).precision}"


def known_lines(entries: Sequence[Known]) -> Iterator[str]:
    """How the findings of the other checker fare."""
    for label, words in (
        (Label.DEFECT, "defects of the other checker reported"),
        (Label.FALSE, "its false alarms left alone"),
        (Label.INTENDED, "intended, and no error"),
    ):
        of_label = [each for each in entries if each.label is label]
        yield f"{words}: {sum(each.met for each in of_label)} of {len(of_label)}"
    yield from (f"  {each.label.value} {each.rule} {each.repository} {each.path}:{each.line} is {each.ours.value}" for each in entries if not each.met)
