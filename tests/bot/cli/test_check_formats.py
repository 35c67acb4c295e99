"""What ``check`` prints, format by format, for one handmade report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.finding import Confidence
from analysis.report import Report, Unresolved
from analysis.source import NotAnalysed
from bot.cli.check_formats import FORMATS, Checked
from bot.cli.folder import read_folder
from bot.cli.terminal import Paint
from tests.bot.cli.findings import retained_graph, write

PLAIN = Paint(enabled=False)


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    write(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    folder = read_folder([tmp_path])
    finding = retained_graph(folder.snapshot)
    report = Report(
        findings=(finding, retained_graph(folder.snapshot, confidence=Confidence.LOW)),
        unresolved=(Unresolved("loop.py", 5, "step is decided while running"),),
        not_analysed=(NotAnalysed("broken.py", "not valid Python: invalid syntax", 3),),
        files=2,
        programs=1,
        rules=6,
        suppressed=(finding,),
    )
    return Checked(report, folder, (), Confidence.MEDIUM)


def _json(checked: Checked) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(FORMATS["json"](checked, PLAIN))
    return value


def test_json_has_the_published_shape(checked: Checked) -> None:
    assert _json(checked) == {
        "version": 1,
        "findings": [
            {
                "rule": "retained-graph",
                "severity": "error",
                "confidence": "high",
                "path": "../loop.py",
                "line": 6,
                "column": 2,
                "end_line": 6,
                "end_column": 21,
                "message": "`losses` keeps the graph of every step",
                "evidence": [
                    {"path": "../model.py", "line": 2, "message": "the loss carries its graph"},
                    {"path": "../loop.py", "line": 6, "message": "and outlives the step"},
                ],
                "fix": {
                    "title": "store a detached value",
                    "safety": "safe",
                    "edits": [{"path": "../loop.py", "start_line": 6, "start_column": 16, "end_line": 6, "end_column": 20, "text": "loss.detach()"}],
                },
                "no_fix_because": None,
                "fingerprint": "f1",
            }
        ],
        "unresolved": [{"path": "../loop.py", "line": 5, "message": "step is decided while running"}],
        "not_analysed": [{"path": "../broken.py", "line": 3, "message": "not valid Python: invalid syntax"}],
        "files": 2,
        "rules": 6,
        "suppressed": 1,
        "suppressed_by_rule": {"retained-graph": 1},
        "fixed_by_rule": {},
        "baselined": 0,
        "baselined_by_rule": {},
        "problems": [],
    }


def test_text_ends_with_a_count(checked: Checked) -> None:
    text = FORMATS["text"](checked, PLAIN)

    assert text.startswith("../loop.py:6:2: error: ")
    assert text.endswith(
        "\n\n1 error in 2 files, 6 rules (1 finding of lower confidence not shown, 1 file not analysed, 1 place not followed, 1 suppressed).\n"
    )


def test_text_says_where_nothing_trains(checked: Checked) -> None:
    nothing = replace(checked, report=Report(files=2, rules=6))

    assert FORMATS["text"](nothing, PLAIN) == "Nothing found in 2 files, 6 rules (no training was found in them).\n"


def test_sarif_counts_paths_from_the_root(checked: Checked) -> None:
    results = json.loads(FORMATS["sarif"](checked, PLAIN))["runs"][0]["results"]

    assert [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results] == ["loop.py", "loop.py"]


def test_a_workflow_command_is_one_line_whatever_it_holds(checked: Checked) -> None:
    folder = checked.folder
    finding = retained_graph(folder.snapshot, message="100% sure\n::set-env name=x::y")
    odd = Checked(Report(findings=(finding,)), folder, (), Confidence.LOW)

    assert FORMATS["github"](odd, PLAIN) == (
        "::error file=../loop.py,line=6,endLine=6,title=retained-graph,col=2,endColumn=20::100%25 sure%0A::set-env name=x::y\n"
    )
