"""The interpreter computes what Python computes, wherever the source tells everything: each program leaves its answer in ``r``."""

from pathlib import Path

import pytest

from tests.analysis.interpreter.plain import run

PROGRAMS = sorted((Path(__file__).parent / "guest").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_computes_what_python_computes(path):
    expected = {}
    exec(path.read_text(encoding="utf-8"), expected)  # our own programs, the judge being Python
    found, machine = run(path.read_text(encoding="utf-8"))
    assert found["r"] == expected["r"]
    assert machine.unresolved == []
