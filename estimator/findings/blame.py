"""The lines that a finding about memory stands on: what set what moved, else what holds most at the peak."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.certainty import Place
from analysis.finding import Confidence, Evidence
from analysis.fixes.change import Reported
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from estimator.compare import SettingChange, compare
from estimator.estimate import Estimate
from estimator.fit import assumed_sizes
from estimator.report.wording import plain, size, words

#: Settings that move memory, those that move most first.
_MOVERS = ("model", "batch_size", "sequence_length", "image_size", "checkpointing", "precision", "optimizer", "attention", "sharding", "devices")


def asked_about_estimates(_trace: Trace) -> Iterator[Reported]:
    """The check of a rule that no trace answers: its findings come from estimates."""
    return iter(())


def evidence(before: Estimate | None, after: Estimate, snapshot: Snapshot) -> tuple[Evidence, ...]:
    """The settings that moved, then the line that holds most at the peak of ``after``; never empty. The finding stands on the first."""
    steps = [*_moved(before, after, snapshot), *_holding(before, after, snapshot)]
    return tuple(steps) or (Evidence(_start(after.entry, snapshot), "the run begins here"),)


def confidence(estimate: Estimate) -> Confidence:
    """How sure the peak is: sizes that were assumed and parts that were not followed lower it."""
    return Confidence.MEDIUM if estimate.unknowns or assumed_sizes(estimate.config) else Confidence.HIGH


def _moved(before: Estimate | None, after: Estimate, snapshot: Snapshot) -> Iterator[Evidence]:
    moved = {each.name: each for each in (compare(before, after).settings if before is not None else ())}
    for name in _MOVERS:
        place = moved[name].head.because if name in moved else None
        span = None if place is None else _line(place, snapshot)
        if span is not None:
            yield Evidence(span, _change(moved[name]))


def _change(moved: SettingChange) -> str:
    return f"{words(moved.name)} was {plain(moved.base)} and is {plain(moved.head)}"


def _holding(before: Estimate | None, after: Estimate, snapshot: Snapshot) -> Iterator[Evidence]:
    """The line that holds most more than before, and the one that holds most."""
    if after.memory is None:
        return
    grown = next((each for each in (compare(before, after).holders if before is not None else ()) if each.delta > 0), None)
    span = None if grown is None else _line(grown.place, snapshot)
    if grown is not None and span is not None:
        yield Evidence(span, f"this line holds {size(grown.head)} at the peak, {size(grown.delta)} more than before: {grown.what}")
    for most in after.memory.largest[:1]:
        span = _line(most.place, snapshot) if grown is None or most.place != grown.place else None
        if span is not None:
            yield Evidence(span, f"this line holds {size(most.bytes)} at the peak: {most.what}")


def _line(place: Place, snapshot: Snapshot) -> Span | None:
    """The text of a line without the space around it; None where it is not of the repository."""
    source = snapshot.source(place.path)
    content = source.content if isinstance(source, SourceFile) else snapshot.contents.get(place.path)
    lines = content.splitlines(keepends=True) if content is not None else []
    if not 1 <= place.line <= len(lines):
        return None
    start = sum(map(len, lines[: place.line - 1]))
    line = lines[place.line - 1]
    text = line.strip()
    first = start + len(line) - len(line.lstrip())
    return Span(place.path, first, first + len(text))


def _start(path: str, snapshot: Snapshot) -> Span:
    source = snapshot.source(path)
    body = source.tree.body if isinstance(source, SourceFile) else []
    return source.span(body[0]) if isinstance(source, SourceFile) and body else Span(path, 0, 0)
