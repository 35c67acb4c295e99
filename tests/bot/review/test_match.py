"""Findings are matched by fingerprint, one to one."""

from __future__ import annotations

from dataclasses import replace

from analysis.snapshot import Snapshot
from bot.review.match import Moves, match
from tests.bot.review.examples import QUESTION, RETAINED, UNCLEARED


def test_a_moved_finding_is_the_same() -> None:
    moved = replace(RETAINED, line=42, end_line=42)
    matched = match([RETAINED, UNCLEARED], [moved, QUESTION])
    assert (matched.existing, matched.introduced, matched.fixed) == ((moved,), (QUESTION,), (UNCLEARED,))


def test_a_second_of_the_same_fingerprint_is_new() -> None:
    again = replace(RETAINED, line=42, end_line=42)
    matched = match([RETAINED], [RETAINED, again])
    assert (matched.existing, matched.introduced, matched.fixed) == ((RETAINED,), (again,), ())
    assert match([RETAINED, again], [again]).fixed == (again,)


def test_a_finding_in_a_renamed_file_is_the_same() -> None:
    renamed = replace(RETAINED, path="renamed.py", line=42, end_line=42, fingerprint="other")
    moves = Moves(removed={RETAINED.path}, added={"renamed.py"})

    assert match([RETAINED], [renamed], moves).existing == (renamed,)
    assert match([RETAINED], [renamed, replace(renamed, fingerprint="more")], moves).introduced == (replace(renamed, fingerprint="more"),)
    assert match([RETAINED], [renamed]).introduced == (renamed,)


def test_an_edited_statement_with_the_same_mistake_introduces_nothing() -> None:
    edited = replace(RETAINED, fingerprint="other")

    assert match([RETAINED], [edited]).existing == (edited,)
    assert match([RETAINED], [replace(edited, message="something else")]).fixed == (RETAINED,)
    assert match([RETAINED], [replace(edited, path="elsewhere.py")]).introduced == (replace(edited, path="elsewhere.py"),)


def test_the_same_mistake_in_another_function_is_new() -> None:
    kept = b"def step():\n    go()\n\ndef train():\n    go()\n"
    renamed = kept.replace(b"def train", b"def fit")
    before, after = (replace(RETAINED, path="run.py", line=line, end_line=line, fingerprint=str(line)) for line in (2, 5))

    for base, head, introduced in ((kept, kept, (after,)), (kept.replace(b"def step", b"def old"), kept, ()), (kept, renamed, ())):
        moves = Moves.between(Snapshot.of({"run.py": base}), Snapshot.of({"run.py": head}))
        assert match([before], [after], moves).introduced == introduced
