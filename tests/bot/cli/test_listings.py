"""The catalogs on the command line, for people and for programs, and the page of a rule."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.cli.main import main
from bot.rules import every_rule
from estimator.catalog import gpu


def _json(capsys: pytest.CaptureFixture[str], command: str) -> list[dict[str, Any]]:
    assert main([command, "--format", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["version"] == 1
    rows: list[dict[str, Any]] = value[command]
    return rows


def test_gpus_say_what_a_process_can_have(capsys: pytest.CaptureFixture[str]) -> None:
    card = next(row for row in _json(capsys, "gpus") if row["name"] == "T4")

    assert card["usable_bytes"] == gpu("T4").usable_bytes
    assert {"name": "g4dn.xlarge", "provider": "aws", "count": 1} in card["instances"]


def test_models_are_listed_with_their_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"name": "openai-community/gpt2", "family": "gpt2"}.items() <= _json(capsys, "models")[0].items()


def test_rules_are_listed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    names = [row["name"] for row in _json(capsys, "rules")]

    assert names == sorted(rule.name for rule in every_rule())
    assert {"missing-zero-grad", "projected-oom", "memory-regression"} <= set(names)


@pytest.mark.parametrize("command", ["gpus", "models", "rules"])
def test_the_text_has_a_line_for_each(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, command)
    assert main([command]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [row["name"] for row in rows]


def test_a_rule_is_explained_with_its_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "missing-zero-grad"]) == 0

    page = capsys.readouterr().out
    assert page.startswith("missing-zero-grad (")
    assert page.index("Flagged:") < page.index("Left alone:")
    assert "optimizer.step()" in page


def test_a_rule_about_memory_has_a_page_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "projected-oom"]) == 0
    assert "borderline" in capsys.readouterr().out


def test_an_unknown_rule_is_explained_by_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "missing-zerograd"]) == 2
    assert "did you mean missing-zero-grad?" in capsys.readouterr().err
