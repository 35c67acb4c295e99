"""``preflight estimate`` from its words to its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main

SCRIPT = """\
import torch
from torch import nn

width = 1024
model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    x, y = torch.randn(64, width, device="cuda"), torch.randint(10, (64,), device="cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "broken.py").write_text("import torch\n\ndef f(:\n")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    main(["estimate", "--format", "json", *words])
    value = json.loads(capsys.readouterr().out)
    assert value["version"] == 1
    first: dict[str, Any] = value["estimates"][0]
    return first


@pytest.mark.usefixtures("project")
def test_a_script_is_estimated(capsys: pytest.CaptureFixture[str]) -> None:
    estimate = _json(capsys, "train.py", "--gpu", "t4")

    assert estimate["entry"] == "train.py"
    assert estimate["parameters"] == 1024 * 1024 + 1024 + 1024 * 10 + 10
    assert sum(estimate["memory"].values()) == estimate["peak_bytes"]
    assert [(fit["gpu"], fit["verdict"]) for fit in estimate["fits"]] == [("T4", "fits")]


@pytest.mark.usefixtures("project")
def test_a_global_can_be_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert _json(capsys, "train.py", "--set", "width=2048")["parameters"] == 2048 * 2048 + 2048 + 2048 * 10 + 10


def test_paths_count_from_the_working_directory(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")

    assert _json(capsys, "../train.py")["entry"] == "../train.py"


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("words", "part"),
    [
        ((), "name a script or --model NAME, one of the two"),
        (("train.py", "--model", "gpt2"), "name a script or --model NAME, one of the two"),
        (("nowhere.py",), "nowhere.py does not exist"),
        (("broken.py",), "broken.py:3: not valid Python"),
        ((".",), ". is a folder; name the script in it that trains"),
        (("--model", "gpt-22"), "gpt2"),
        (("train.py", "--gpu", "T5"), "T4"),
    ],
)
def test_a_mistake_is_one_sentence(words: tuple[str, ...], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", *words]) == 2

    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert part in said


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_people_can_read_it(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "train.py", "--format", form]) == 0
    assert "Peak memory" in capsys.readouterr().out


def test_no_card_that_fits_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["estimate", "--model", "gpt2", "--batch-size", "64", "--seq-len", "1024", "--optimizer", "adamw"]

    assert main([*words, "--gpu", "T4"]) == 1
    capsys.readouterr()
