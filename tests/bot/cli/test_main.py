"""The door of the command line: every way to get it wrong is one sentence and the right exit status."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from analysis.settings_file import SettingsError
from bot.cli import main as door
from bot.cli.main import COMMANDS, main


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["chek"], "preflight: unknown command chek; did you mean check? (preflight --help lists them)"),
        (["rules", "--fromat", "json"], "preflight rules: unknown option --fromat; did you mean --format?"),
        (["rules", "--format", "jsn"], "preflight rules: --format must be one of text, json, not jsn; did you mean json?"),
        (["explain"], "preflight explain: the following arguments are required: RULE (see preflight explain --help)"),
        (["explain", "no-such-rule-at-all"], "preflight explain: unknown rule no-such-rule-at-all"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith(sentence)


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0

    assert all(f"\n  {command} " in capsys_out for capsys_out in [capsys.readouterr().out] for command in COMMANDS)


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        assert main([command, "--help"]) == 0, command
        assert capsys.readouterr().out.startswith(f"usage: preflight {command}")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0

    assert capsys.readouterr().out.startswith("preflight 0.")


def _raising(error: BaseException) -> SimpleNamespace:
    def run(_words: object) -> int:
        raise error

    return SimpleNamespace(run=run)


def test_an_internal_error_shows_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("PREFLIGHT_LOG_LEVEL", raising=False)
    monkeypatch.setattr(door, "_load", lambda _command: _raising(ValueError("broken\nmore")))

    assert main(["check"]) == 3

    message = "preflight check: internal error, please report it: ValueError: broken; PREFLIGHT_LOG_LEVEL=debug shows where\n"
    assert capsys.readouterr().err == message


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PREFLIGHT_LOG_LEVEL", "debug")
    monkeypatch.setattr(door, "_load", lambda _command: _raising(ValueError("broken")))

    assert main(["check"]) == 3

    assert "Traceback" in capsys.readouterr().err


def test_a_configuration_error_is_the_users(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(door, "_load", lambda _command: _raising(SettingsError("pyproject.toml: unknown key x")))

    assert main(["check"]) == 2
    assert capsys.readouterr().err == "preflight check: pyproject.toml: unknown key x\n"


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(door, "_load", lambda _command: _raising(KeyboardInterrupt()))

    assert main(["check"]) == 130
    assert capsys.readouterr().err == ""


def test_a_reader_that_leaves_is_no_error() -> None:
    command = [sys.executable, "-m", "bot.cli", "gpus", "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate()

    assert errors == b""


def test_a_process_that_ends_at_once_has_printed_all_and_tells_its_status() -> None:
    command = [sys.executable, "-m", "bot.cli"]
    listed = subprocess.run([*command, "gpus", "--format", "json"], capture_output=True, check=True)
    wrong = subprocess.run([*command, "chekc"], capture_output=True, text=True, check=False)

    assert len(json.loads(listed.stdout)["gpus"]) >= 60
    assert (wrong.returncode, wrong.stderr) == (2, "preflight: unknown command chekc; did you mean check? (preflight --help lists them)\n")


def test_what_the_bot_needs_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(_name: str) -> None:
        raise ModuleNotFoundError("No module named 'aiohttp'", name="aiohttp")

    monkeypatch.setattr(door.importlib, "import_module", missing)

    assert main(["serve"]) == 2
    assert capsys.readouterr().err == "preflight serve: needs the bot's dependencies (aiohttp is missing): pip install 'preflight-bot[bot]'\n"


@pytest.mark.parametrize(("command", "often"), [("serve", True), ("worker", True), ("demo", True), ("check", False), ("review", False)])
def test_what_runs_for_days_collects_its_garbage_as_python_does(command: str, often: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    seen: list[tuple[int, int, int]] = []

    def run(_words: object) -> int:
        seen.append(gc.get_threshold())
        return 0

    before = gc.get_threshold()
    monkeypatch.setattr(door, "_load", lambda _command: SimpleNamespace(run=run))
    try:
        gc.set_threshold(700, 10, 10)
        assert door.main([command]) == 0
    finally:
        gc.set_threshold(*before)
    assert (seen == [(700, 10, 10)]) == often
