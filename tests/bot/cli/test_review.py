"""``preflight review`` on a repository made for it: what a change introduces, what it fixes, what was there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from tests.bot.cli.test_check import SCRIPT
from tests.bot.sources.test_release import USES_IT, stocked

CLEAN = SCRIPT.replace("    loss.backward()\n", "    optimizer.zero_grad()\n    loss.backward()\n")


def _git(folder: Path, *words: str) -> str:
    identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True, env={**os.environ, **identity, "HOME": str(folder)})
    return done.stdout.strip()


def _commit(folder: Path, files: dict[str, str]) -> str:
    for path, content in files.items():
        (folder / path).write_text(content)
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "change")
    return _git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit(tmp_path, {"train.py": CLEAN, "other.py": SCRIPT})
    _git(tmp_path, "checkout", "-q", "-b", "feature")
    _commit(tmp_path, {"train.py": SCRIPT})
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], repository: Path, *words: str) -> dict[str, Any]:
    main(["review", "--repo", str(repository), "--format", "json", *words])
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_a_change_introduces_a_finding(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = _json(capsys, repository, "--base", "main", "--head", "feature")

    assert [(finding["rule"], finding["path"]) for finding in value["introduced"]] == [("missing-zero-grad", "train.py")]
    assert value["fixed"] == []
    assert value["base"] == value["merge_base"] == _git(repository, "rev-parse", "main")
    assert value["head"] == _git(repository, "rev-parse", "feature")
    assert "missing-zero-grad" in value["summary"]


def test_the_way_back_fixes_it(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _git(repository, "checkout", "-q", "-b", "mended")
    _commit(repository, {"train.py": CLEAN})

    value = _json(capsys, repository, "--base", "feature", "--head", "mended")

    assert value["introduced"] == []
    assert [finding["rule"] for finding in value["fixed"]] == ["missing-zero-grad"]


def test_what_the_base_has_is_not_new(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _git(repository, "checkout", "-q", "main")
    _git(repository, "checkout", "-q", "-b", "comment")
    _commit(repository, {"other.py": "# A comment.\n" + SCRIPT})

    value = _json(capsys, repository, "--base", "main", "--head", "comment")

    assert value["introduced"] == []
    assert [finding["path"] for finding in value["existing"]] == ["other.py"]


def test_the_status_says_whether_something_was_introduced(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["review", "--repo", str(repository), "--base", "main"]

    assert main([*words, "--head", "feature"]) == 1
    assert "missing-zero-grad" in capsys.readouterr().out
    assert main([*words, "--head", "main"]) == 0


def test_the_configuration_is_that_of_the_base(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _commit(repository, {".preflight.toml": 'ignore = ["missing-zero-grad"]\n'})
    assert len(_json(capsys, repository, "--base", "main", "--head", "feature")["introduced"]) == 1

    _git(repository, "checkout", "-q", "main")
    _commit(repository, {".preflight.toml": 'ignore = ["missing-zero-grad"]\n'})
    value = _json(capsys, repository, "--base", "main", "--head", "feature")
    assert value["introduced"] == []
    assert value["base"] != value["merge_base"]


def test_a_wrong_configuration_is_the_callers(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = _commit(repository, {".preflight.toml": "ignroe = []\n"})

    assert main(["review", "--repo", str(repository), "--base", base]) == 2
    assert capsys.readouterr().err == "preflight review: .preflight.toml: unknown key ignroe; did you mean ignore?\n"


def test_markdown_holds_the_suggestion(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["review", "--repo", str(repository), "--base", "main", "--head", "feature", "--format", "markdown"])

    shown = capsys.readouterr().out
    assert "## Check run" in shown
    assert "```suggestion" in shown
    assert "<!-- preflight:" not in shown


def test_a_file_that_a_partial_clone_does_not_hold_is_named(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _commit(repository, {"third.py": "import torch\n"})
    blob = _git(repository, "rev-parse", "feature:third.py")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    value = _json(capsys, repository, "--base", "main", "--head", "feature")

    assert [(each["path"], each["message"]) for each in value["not_analysed"]] == [
        ("third.py", "its content is not in this partial clone: fetch the whole commit")
    ]
    assert [finding["rule"] for finding in value["introduced"]] == ["missing-zero-grad"]
    main(["review", "--repo", str(repository), "--base", "main", "--head", "feature"])
    assert "third.py:1: not analysed: its content is not in this partial clone" in capsys.readouterr().err


def test_a_model_is_read_from_the_source_that_was_added(repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _git(repository, "checkout", "-q", "-b", "widened")
    _commit(repository, {"train.py": USES_IT})
    monkeypatch.setenv("PREFLIGHT_SOURCES_DIR", str(stocked(repository / ".git" / "sources", "1.0.2")))
    (after,) = [pair["head"] for pair in _json(capsys, repository, "--base", "main", "--head", "widened")["estimates"]]
    assert after["allocated_bytes"] > 4 * 4 * 2 * 8 * 1024**2
