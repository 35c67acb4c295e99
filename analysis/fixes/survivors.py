"""Which findings of an edited program are those it had before: by place, else by words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.finding import Edit, Finding
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span


def survivors(before: Sequence[Finding], after: Iterable[Finding], edits: Iterable[Edit], old: Snapshot, new: Snapshot) -> list[tuple[Finding, Finding | None]]:
    """Every finding of ``after`` with the one of ``before`` that it is, or None where it is new; each is taken once.

    Where several could be meant, the first of ``before`` is taken.
    """
    moves = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
    left = list(before)
    found: list[tuple[Finding, Finding | None]] = []
    for finding in after:
        same = next((known for known in left if _same_place(known, finding, moves)), None)
        same = same or next((known for known in left if _same_words(known, finding, old, new)), None)
        if same is not None:
            left.remove(same)
        found.append((finding, same))
    return found


def _same_place(known: Finding, finding: Finding, moves: Sequence[Edit]) -> bool:
    if (known.rule, known.span.path) != (finding.rule, finding.span.path):
        return False
    low, high = _moved(known.span, moves)
    return low <= finding.span.start <= high


def _moved(span: Span, moves: Sequence[Edit]) -> tuple[int, int]:
    """The places that the start of ``span`` may have now: more than one where an edit touches it."""
    shift, low = 0, None
    for edit in moves:
        if edit.span.path != span.path or edit.span.start > span.start:
            continue
        if edit.span.end >= span.start and low is None:
            low = edit.span.start + shift
        shift += len(edit.text.encode("utf-8")) - (edit.span.end - edit.span.start)
    high = span.start + shift
    return (high if low is None else min(low, high)), high


def _same_words(known: Finding, finding: Finding, old: Snapshot, new: Snapshot) -> bool:
    """For statements that moved."""
    where = (known.rule, known.span.path, known.function) == (finding.rule, finding.span.path, finding.function)
    return where and _words(old, known.span) == _words(new, finding.span)


def _words(snapshot: Snapshot, span: Span) -> str:
    source = snapshot.source(span.path)
    return source.text(span) if isinstance(source, SourceFile) else ""
