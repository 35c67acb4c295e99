"""Whole traces of small programs, event by event: golden files that are read in review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.text import render

PROGRAMS = sorted(path.stem for path in (Path(__file__).parent / "guest").glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_has_its_trace(name: str, golden: Callable[[str, str], None]):
    path = f"{name}.py"
    snapshot = Snapshot.of({path: (Path(__file__).parent / "guest" / path).read_bytes()})
    traces = list(trace_program(snapshot, index(snapshot), [path]))
    texts = [f"{each.function or 'script'}{', distributed' if each.distributed else ''}\n{render(each)}" for each in traces]
    golden(f"{name}.txt", "\n".join(texts))
    assert all(each.complete for each in traces)
