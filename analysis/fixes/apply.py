"""Edits to bytes, and bytes to a unified diff. What the command line writes and what a fix is checked on are the same."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from analysis.finding import Edit, Finding, Fix, Safety
from analysis.snapshot import Snapshot
from analysis.source import SourceFile


class EditsOverlapError(ValueError):
    """Two edits claim the same bytes, so that no order of applying them gives what either meant."""


def apply(snapshot: Snapshot, edits: Iterable[Edit]) -> dict[str, bytes]:
    """The files that the edits change, with their new bytes. Raises EditsOverlapError; ValueError for a file that was not read."""
    by_path: dict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_path[edit.span.path].append(edit)
    return {path: _applied(snapshot, path, by_path[path]) for path in sorted(by_path)}


def _applied(snapshot: Snapshot, path: str, edits: list[Edit]) -> bytes:
    source = snapshot.source(path)
    if not isinstance(source, SourceFile):
        raise ValueError(f"{path}: cannot be edited, {source.reason}")  # noqa: TRY004  # the value is at fault, not its type
    ordered = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
    if any(first.span.end > second.span.start for first, second in pairwise(ordered)):
        raise EditsOverlapError(f"{path}: two edits overlap")
    content, pieces, position = source.content, [snapshot.contents[path][: source.offset]], 0
    for edit in ordered:
        pieces += [content[position : edit.span.start], edit.text.encode("utf-8")]
        position = edit.span.end
    return b"".join([*pieces, content[position:]])


def compatible(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """The fixes that can be applied together, first come first served."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(conflict(fix, other) for other in chosen):
            chosen.append(fix)
    return tuple(chosen)


def conflict(one: Fix, other: Fix) -> bool:
    """Whether an edit of one touches an edit of the other. The same whole line inserted by both (an import) is no conflict."""
    return any(_touch(left, right) for left in one.edits for right in other.edits)


def _touch(left: Edit, right: Edit) -> bool:
    if left.span.path != right.span.path or left.span.end < right.span.start or right.span.end < left.span.start:
        return False
    if left == right and left.span.start == left.span.end and left.text.endswith(("\n", "\r")):
        return False
    return left.span.start == right.span.start or (left.span.end > right.span.start and right.span.end > left.span.start)


def edits_of(fixes: Iterable[Fix]) -> tuple[Edit, ...]:
    """All edits of compatible fixes, an edit that several of them need once."""
    return tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits))


def fixed(snapshot: Snapshot, findings: Iterable[Finding], safeties: frozenset[Safety] = frozenset({Safety.SAFE})) -> dict[str, bytes]:
    """New bytes of the files that the fixes of ``findings`` change: by default those that may be applied unasked."""
    return apply(snapshot, edits_of(compatible(finding.fix for finding in findings if finding.fix is not None and finding.fix.safety in safeties)))


def unified_diff(snapshot: Snapshot, changed: Mapping[str, bytes]) -> str:
    """A patch that ``git apply`` and ``patch -p1`` take, from the snapshot's bytes to ``changed``."""
    return "".join(line for path in sorted(changed) for line in _file_diff(path, snapshot.contents[path], changed[path]))


def _file_diff(path: str, old: bytes, new: bytes) -> Iterator[str]:
    before, after = (text.decode("utf-8", "surrogateescape").split("\n") for text in (old, new))
    for line in difflib.unified_diff(_ended(before), _ended(after), f"a/{path}", f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _ended(pieces: list[str]) -> list[str]:
    """Lines with their line feed, as git counts them: a carriage return is part of the line."""
    lines = [f"{piece}\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines
