"""``preflight check`` from its words to its exit status, on a script that never clears its gradients."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main

SCRIPT = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.utils.data.DataLoader([(torch.randn(4), 0)], batch_size=1):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    main(["check", "--format", "json", *words])
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def _rules(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return [finding["rule"] for finding in _json(capsys, *words)["findings"]]


@pytest.mark.usefixtures("project")
def test_a_finding_fails_and_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 1

    shown = capsys.readouterr().out
    assert "[missing-zero-grad]" in shown
    assert "     8 |     loss.backward()" in shown
    assert "\x1b[" not in shown


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("level", "status"), [("never", 0), ("error", 1), ("notice", 1)])
def test_the_level_that_fails_can_be_chosen(level: str, status: int) -> None:
    assert main(["check", "--fail-on", level]) == status


@pytest.mark.usefixtures("project")
def test_rules_can_be_chosen_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert _rules(capsys, "--select", "missing-zero-grad,retained-graph") == ["missing-zero-grad"]
    assert "missing-zero-grad" not in _rules(capsys, "--ignore", "missing-zero-grad")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_rule_is_named_with_the_nearest(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", option, "mising-zero-grad"]) == 2
    assert capsys.readouterr().err == f"preflight check: {option}: unknown rule mising-zero-grad; did you mean missing-zero-grad?\n"


def test_the_configuration_of_the_tree_holds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text('[tool.preflight]\nseverity = { missing-zero-grad = "notice" }\n')
    assert _json(capsys)["findings"][0]["severity"] == "notice"
    assert main(["check"]) == 0

    (project / ".preflight.toml").write_text('per-file-ignores = { "train.py" = ["missing-zero-grad"] }\n')
    assert "missing-zero-grad" not in _rules(capsys)


@pytest.mark.parametrize(
    ("configuration", "sentence"),
    [
        ("selct = []", ".preflight.toml: unknown key selct; did you mean select?"),
        ('ignore = ["mising-zero-grad"]', "configuration, ignore: unknown rule mising-zero-grad; did you mean missing-zero-grad?"),
    ],
)
def test_a_wrong_configuration_is_one_sentence(project: Path, configuration: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".preflight.toml").write_text(configuration)

    assert main(["check"]) == 2
    assert capsys.readouterr().err == f"preflight check: {sentence}\n"


def test_a_broken_file_stops_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "broken.py").write_text("import torch\n\ndef f(:\n")
    os.mkfifo(project / "pipe.py")

    value = _json(capsys)

    assert [finding["rule"] for finding in value["findings"]] == ["missing-zero-grad"]
    assert [(each["path"], each["line"]) for each in value["not_analysed"]] == [("broken.py", 3), ("pipe.py", 1)]
    assert value["files"] == 1


def test_what_could_not_be_read_is_said_on_stderr(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "broken.py").write_text("import torch\n\ndef f(:\n")
    (project / "build").mkdir()

    main(["check"])

    passed_over, not_analysed = capsys.readouterr().err.splitlines()
    assert passed_over == "passed over: build/ (name one to check it)"
    assert not_analysed.startswith("broken.py:3: not analysed: not valid Python")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ({"broken.py": "def f(:\n"}, "Nothing found in 0 files, "),
        ({"notes.txt": "nothing"}, "No Python file to check."),
    ],
)
def test_what_was_not_read_is_no_all_clear(content: dict[str, str], summary: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sub").mkdir()
    for name, text in content.items():
        (project / "sub" / name).write_text(text)

    assert main(["check", "sub"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(summary)
    assert ("(1 file not analysed)" in shown) == ("broken.py" in content)


def test_a_path_that_is_not_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(project / "nowhere")]) == 2
    assert capsys.readouterr().err == f"preflight check: {project}/nowhere does not exist\n"


def test_fix_writes_and_the_finding_is_gone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--diff"]) == 1
    patch = capsys.readouterr().out
    assert main(["check", "--fix"]) == 0

    assert "optimizer.zero_grad()" in (project / "train.py").read_text()
    assert "+    optimizer.zero_grad()" in patch
    assert main(["check"]) == 0


def test_a_suppressed_finding_is_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").write_text(SCRIPT.replace("loss.backward()", "loss.backward()  # preflight: ignore[missing-zero-grad] on purpose"))

    value = _json(capsys)

    assert value["findings"] == []
    assert value["suppressed"] == 1


@pytest.mark.usefixtures("project")
def test_the_same_tree_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("json", "sarif", "github", "text"):
        main(["check", "--format", form])
        first = capsys.readouterr().out
        main(["check", "--format", form])
        assert capsys.readouterr().out == first


def test_a_baseline_hides_and_counts_what_was_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--write-baseline", "known.json"]) == 0
    assert main(["check", "--baseline", "known.json"]) == 0
    assert "in the baseline" in capsys.readouterr().out
    value = _json(capsys, "--baseline", "known.json")
    assert (value["findings"], value["baselined_by_rule"]["missing-zero-grad"]) == ([], 1)

    main(["check", "--baseline", "known.json", "--format", "sarif"])
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert {result["suppressions"][0]["kind"] for result in results} == {"external"}

    (project / "train.py").write_text(SCRIPT.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()"))
    assert main(["check", "--baseline", "known.json"]) == 0
    assert "not found any more: missing-zero-grad in train.py" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_baseline_that_is_none_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bad.json").write_text("[1")
    assert main(["check", "--baseline", "bad.json"]) == 2
    assert main(["check", "--baseline", "none.json"]) == 2
    assert main(["check", "--baseline", "."]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line.split(": ", 2)[2] for line in said] == [
        "bad.json is not JSON: line 1: Expecting ',' delimiter",
        "none.json does not exist; --write-baseline none.json writes it",
        ". is not a file",
    ]


@pytest.mark.parametrize(("table", "where"), [("", "gpus"), ('[tool.preflight.entry."train.py"]\n', 'gpus of entry "train.py"')])
def test_an_unknown_card_in_the_configuration_is_named_with_the_nearest(table: str, where: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text(f'{table or "[tool.preflight]"}\ngpus = ["A100-80Gb", "T4000x"]\n')
    assert main(["check"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"preflight check: configuration, {where}: No GPU or instance is called 'T4000x'")
    assert said.count("\n") == 1
