"""Code whose places are marked ⟦so⟧, and what a change makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from analysis.finding import Fix, Safety
from analysis.fixes import child, worker
from analysis.fixes import draft as drafting
from analysis.fixes.apply import apply
from analysis.fixes.change import Change, Proposal
from analysis.fixes.draft import draft
from analysis.fixes.wire import Refused
from analysis.snapshot import Snapshot
from analysis.source import Span

PATH = "train.py"
Making = Callable[..., Change | tuple[Change, ...]]


def unmarked(marked: str) -> tuple[str, list[Span]]:
    """The code, and the spans of ⟦…⟧ in the order in which they open; marks may nest."""
    code, opened, spans = b"", [], []
    for piece in re.split("([⟦⟧])", marked):
        if piece == "⟦":
            opened.append(len(spans))
            spans.append(Span(PATH, len(code), len(code)))
        elif piece == "⟧":
            place = opened.pop()
            spans[place] = Span(PATH, spans[place].start, len(code))
        else:
            code += piece.encode()
    return code.decode(), spans


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "run", lambda jobs: [child._answer(job) for job in jobs])


@pytest.fixture(params=["plainly", "with LibCST"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "with LibCST":
        monkeypatch.setattr(drafting, "plainly", lambda *_: None)


@pytest.fixture
def edited() -> Callable[..., str]:
    """What the change that ``make`` builds from the marked spans makes of the code, or ``no: reason``."""

    def edit(marked: str, make: Making, bom: bytes = b"") -> str:
        code, spans = unmarked(marked)
        made = make(*spans)
        snapshot = Snapshot.of({PATH: bom + code.encode()})
        (fix,) = draft([Proposal("fix", Safety.SAFE, made if isinstance(made, tuple) else (made,))], snapshot)
        if isinstance(fix, Refused):
            return f"no: {fix.because}"
        assert isinstance(fix, Fix)
        return apply(snapshot, fix.edits)[PATH].decode()

    return edit
