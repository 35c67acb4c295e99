"""Notebooks: their code cells are one program, positions are told by cell, and what is not Python in them is left out."""

from __future__ import annotations

import json

import pytest

from analysis.engine import analyse
from analysis.notebook import read_notebook
from analysis.rule import discover
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, Position, SourceFile, Span

SETUP = "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(4, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
LOOP = "for step in range(9):\n    model(torch.ones(1, 4)).sum().backward()\n    optimizer.step()"


def notebook(*cells: tuple[str, str], **metadata: object) -> bytes:
    rows = [{"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)} for kind, text in cells]
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": rows}).encode()


def code(*cells: str) -> bytes:
    return notebook(*(("code", cell) for cell in cells))


def source(raw: bytes) -> SourceFile:
    found = read_notebook("a.ipynb", raw)
    assert isinstance(found, SourceFile), found
    return found


def test_a_finding_stands_in_its_cell() -> None:
    snapshot = Snapshot.of({"a.ipynb": notebook(("markdown", "# Training"), ("code", SETUP), ("raw", "x"), ("code", LOOP))})
    report = analyse(snapshot, discover())
    (finding,) = [each for each in report.findings if each.rule == "missing-zero-grad"]
    assert snapshot.position(finding.span) == Position(2, 5, 2, 45, 4)
    assert [snapshot.position(step.span).cell for step in finding.evidence] == [4, 4, 4]
    assert finding.fix is None
    assert "change the cell by hand" in (finding.no_fix_because or "")
    assert report.files == 1


def test_a_fingerprint_stays_when_a_cell_is_put_before() -> None:
    before = analyse(Snapshot.of({"a.ipynb": code(SETUP, LOOP)}), discover())
    after = analyse(Snapshot.of({"a.ipynb": code("import os", SETUP, LOOP)}), discover())
    assert [each.fingerprint for each in before.findings] == [each.fingerprint for each in after.findings] != []


def test_a_comment_silences_in_a_cell() -> None:
    silenced = LOOP.replace("    model", "    # preflight: ignore[missing-zero-grad] shown on purpose\n    model")
    report = analyse(Snapshot.of({"a.ipynb": code(SETUP, silenced)}), discover())
    assert [each.rule for each in report.suppressed] == ["missing-zero-grad"]


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = 1",
        "!pip install torch \\\n   torchvision\nx = 1",
        "if True:\n    !ls\n    %cd ..\nx = 1",
        "files = !ls -l\nx = 1",
        "out = %env HOME\nx = 1",
        "torch.nn?\nx = 1",
        "?print\nx = 1",
        "x??\nx = 1",
        "%%time\nx = 1",
        "%%capture out\n\nx = 1",
        "%time x = 1",
        "    %time x = 1",
        "!\nx = 1",
        "y = 7\\\n  % 2\nx = 1",
        "y = '''\n%cd\n!ls\n'''\nx = 1",
        "await something()\nx = 1",
    ],
)
def test_magics_do_nothing_and_move_nothing(cell: str) -> None:
    cell = cell.strip() if cell.startswith(" ") else cell
    found = source(code(cell))
    at = found.content.rindex(b"x = 1")
    line = cell.splitlines()[found.position(Span("a.ipynb", at, at + 1)).line - 1]
    assert line[found.position(Span("a.ipynb", at, at + 1)).column - 1 :].startswith("x = 1")
    assert any(ast_name == "x" for ast_name in _stored(found))


def _stored(found: SourceFile) -> list[str]:
    return [target.id for node in found.tree.body if hasattr(node, "targets") for target in node.targets if hasattr(target, "id")]


@pytest.mark.parametrize("cell", ["%%bash\nfor x in *; do echo $x; done", "%%html\n<b>", "%%writefile a.py\nimport torch", "%%javascript\nlet x;"])
def test_a_cell_in_another_language_is_left_out(cell: str) -> None:
    found = source(code("a = 1", cell, "b = 2"))
    assert _stored(found) == ["a", "b"]
    assert found.position(Span("a.ipynb", len(found.content) - 3, len(found.content) - 2)).cell == 3


def test_the_older_form_is_read() -> None:
    raw = json.dumps({"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}).encode()
    assert _stored(source(raw)) == ["x"]


@pytest.mark.parametrize(
    ("raw", "reason", "line"),
    [
        (b'{"cells": [\n', "is not a notebook: not valid JSON: Expecting value", 2),
        (b"", "is not a notebook: not valid JSON: Expecting value", 1),
        (b"[]", "is not a notebook: its JSON holds no list of cells", 1),
        (b'{"cells": 1}', "is not a notebook: its JSON holds no list of cells", 1),
        (b"\xff\xfe{}", "is not UTF-8: byte 0 cannot be read", 1),
        (b"[" * 200_000, "is not a notebook: its JSON is nested too deep or holds numbers that are too long", 1),
        (notebook(("code", "x <- 1"), kernelspec={"language": "R"}), "is a notebook in r, not in Python", 1),
        (b'"' + b"x" * 10_000_001 + b'"', "larger than 10 MB", 1),
    ],
)
def test_what_is_no_notebook_is_told_in_a_sentence(raw: bytes, reason: str, line: int) -> None:
    assert read_notebook("a.ipynb", raw) == NotAnalysed("a.ipynb", reason, line)


def test_a_cell_that_is_no_python_is_named() -> None:
    failed = read_notebook("a.ipynb", notebook(("markdown", "x"), ("code", "a = 1\n"), ("code", "b = 2\nprint 'x'\n"), ("code", "c = 3")))
    assert isinstance(failed, NotAnalysed)
    assert failed.reason.startswith("cell 3 is not valid Python 3")
    assert failed.line == 2


@pytest.mark.parametrize(
    "cells", [[None, 1, "x", {"cell_type": "code"}], [{"cell_type": "code", "source": None}], [{"cell_type": "code", "source": ["\ud800"]}], []]
)
def test_odd_cells_harm_nothing(cells: list[object]) -> None:
    assert isinstance(read_notebook("a.ipynb", json.dumps({"cells": cells}).encode()), SourceFile | NotAnalysed)


def test_a_bad_notebook_leaves_its_neighbours() -> None:
    report = analyse(Snapshot.of({"a.ipynb": b"{", "b.ipynb": code(SETUP, LOOP)}), discover())
    assert [each.path for each in report.not_analysed] == ["a.ipynb"]
    assert {each.span.path for each in report.findings} == {"b.ipynb"}
