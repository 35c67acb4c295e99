"""``preflight rules --stats``: counts over reports, and clear words for files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main

FIX = {"title": "clear them", "safety": "safe", "edits": []}


def _finding(rule: str, fix: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"rule": rule, "fix": fix}


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    check = {
        "version": 1,
        "findings": [_finding("missing-zero-grad", FIX), _finding("missing-zero-grad"), _finding("retained-graph", {**FIX, "safety": "review"})],
        "suppressed_by_rule": {"retained-graph": 2},
        "fixed_by_rule": {"missing-zero-grad": 1},
        "baselined_by_rule": {"double-softmax": 3},
    }
    review = {"introduced": [_finding("projected-oom")], "existing": [_finding("retained-graph")], "fixed": [_finding("retained-graph")]}
    (tmp_path / "check.json").write_text(json.dumps(check))
    (tmp_path / "review.json").write_text(json.dumps(review))
    return tmp_path


@pytest.mark.usefixtures("reports")
def test_reports_are_counted_by_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--stats", "check.json", "review.json", "--format", "json"]) == 0
    rows = {row.pop("name"): row for row in json.loads(capsys.readouterr().out)["rules"]}
    assert rows["missing-zero-grad"] == {"severity": "error", "found": 2, "suppressed": 0, "fixed": 1, "safe_fixes": 1, "fixes_to_review": 0}
    assert rows["retained-graph"] == {"severity": "error", "found": 2, "suppressed": 2, "fixed": 1, "safe_fixes": 0, "fixes_to_review": 1}
    assert rows["double-softmax"]["found"] == 3
    assert rows["projected-oom"]["found"] == 1
    assert rows["unused-loss"]["found"] == 0


@pytest.mark.usefixtures("reports")
def test_people_see_the_rules_that_anything_is_said_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--stats", "review.json"]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split("  ")[0] == "name"
    assert [row.split()[0] for row in rows] == ["projected-oom", "retained-graph"]


@pytest.mark.parametrize(
    ("text", "says"), [("{", "is not JSON"), ("[]", "is not a report"), ('{"findings": [1]}', "is not a report"), (None, "does not exist")]
)
def test_a_file_that_is_no_report_is_named(text: str | None, says: str, reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if text is not None:
        (reports / "odd.json").write_text(text)
    assert main(["rules", "--stats", "odd.json"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("preflight rules: --stats: odd.json ")
    assert says in said
