"""Reports are kept while nothing that they rest on changes; a bad file is no report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.engine import analyse
from analysis.report import Report
from analysis.rule import discover
from analysis.snapshot import Snapshot
from bot.cli import check, kept_reports
from bot.cli.kept_reports import load, name_of, save
from bot.cli.outcome import Exit

_CODE = b"""
import torch

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([1] * 8):
    model(x).sum().backward()
    optimizer.step()
"""
_BROKEN = b"import torch\ndef f(:\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREFLIGHT_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def _snapshot(code: bytes = _CODE) -> Snapshot:
    return Snapshot.of({"train.py": code, "broken.py": _BROKEN})


def _report() -> Report:
    return analyse(_snapshot(), discover())


def test_a_report_comes_back_as_it_was() -> None:
    report = _report()
    assert report.findings
    assert any(finding.fix for finding in report.findings)
    assert report.not_analysed
    assert load("one") is None
    save("one", report)
    assert load("one") == replace(report, baselined=())


def test_the_name_changes_with_all_that_the_report_rests_on() -> None:
    rules = discover()
    names = {
        name_of(_snapshot(), rules, {"train.py"}, ()),
        name_of(_snapshot(_CODE + b"\n"), rules, {"train.py"}, ()),
        name_of(_snapshot(), rules[1:], {"train.py"}, ()),
        name_of(_snapshot(), rules, {"train.py", "broken.py"}, ()),
        name_of(_snapshot(), rules, {"train.py"}, {"projected-oom"}),
        name_of(Snapshot(frozenset({"train.py", "broken.py", "more.py"}), _snapshot().contents), rules, {"train.py"}, ()),
    }
    assert len(names) == 6
    assert name_of(_snapshot(), rules, ["train.py"], ()) in names


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b'{"findings": [1]}', b"null"])
def test_what_is_not_whole_is_no_report(folder: Path, content: bytes) -> None:
    folder.mkdir()
    (folder / "one.json").write_bytes(content)
    assert load("one") is None


def test_the_oldest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_reports, "_MOST_REPORTS", 2)
    for name in ("one", "two", "three"):
        save(name, Report())
    assert len(list(folder.iterdir())) == 2
    assert load("three") == Report()


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PREFLIGHT_CACHE_DIR", str(tmp_path / "file" / "kept"))
    save("one", Report())
    assert load("one") is None


def test_the_second_run_says_the_same_without_an_analysis(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_bytes(_CODE)
    monkeypatch.chdir(project)
    assert check.run(["train.py"]) == Exit.FOUND
    first = capsys.readouterr().out
    calls: list[object] = []
    monkeypatch.setattr(check, "analyse", lambda *args, **options: calls.append(args) or analyse(*args, **options))
    assert check.run(["train.py"]) == Exit.FOUND
    assert capsys.readouterr().out == first
    assert not calls
    assert check.run(["train.py", "--no-cache"]) == Exit.FOUND
    assert capsys.readouterr().out == first
    assert len(calls) == 1
