"""``preflight serve`` refuses to start without what it needs, and says which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.cli.main import main
from simulator.auth.keys import key_pair

NEEDED = {"PREFLIGHT_APP_ID": "1", "PREFLIGHT_WEBHOOK_SECRET": "s", "PREFLIGHT_PRIVATE_KEY": "-----BEGIN PRIVATE KEY-----"}


@pytest.fixture(autouse=True)
def _bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("PREFLIGHT_"):
            monkeypatch.delenv(name)


def test_everything_that_is_missing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve"]) == 2

    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert all(name in said for name in NEEDED)


@pytest.mark.parametrize("secret", ["", " ", "a,,b"])
def test_an_empty_secret_is_no_secret(secret: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {**NEEDED, "PREFLIGHT_WEBHOOK_SECRET": secret}.items():
        monkeypatch.setenv(name, value)

    assert main(["serve"]) == 2
    assert "PREFLIGHT_WEBHOOK_SECRET" in capsys.readouterr().err


def test_a_file_beside_it_may_say_the_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".env").write_text("PREFLIGHT_APP_ID=1\nPREFLIGHT_PORT=many\nPREFLIGHT_WEBHOOK_SECRET=s\nPREFLIGHT_PRIVATE_KEY='-----BEGIN PRIVATE KEY-----'\n")

    assert main(["serve"]) == 2
    assert capsys.readouterr().err == "preflight serve: PREFLIGHT_PORT must be a number, not 'many'\n"


def test_a_worker_needs_a_database_that_it_can_share(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in NEEDED.items():
        monkeypatch.setenv(name, value)

    assert main(["worker"]) == 2
    assert "several processes need PREFLIGHT_DATABASE_URL=postgresql://" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "database", "says"),
    [
        ("state", None, "", "PREFLIGHT_STATE_DIR: {folder}/state/of-the-bot cannot be written: Not a directory."),
        ("jobs.sqlite", "no database at all, only text", "", "The job database {folder}/jobs.sqlite cannot be opened: file is not a database"),
        ("notes", None, "postgresql://bot:sekret@127.0.0.1:1/jobs", "The job database cannot be reached: "),
    ],
)
def test_where_it_cannot_keep_its_jobs_it_says_so_and_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, content: str | None, database: str, says: str
) -> None:
    (tmp_path / name).write_text(content or "")
    state = tmp_path / "state" / "of-the-bot" if name == "state" else tmp_path
    for variable, value in {**NEEDED, "PREFLIGHT_PRIVATE_KEY": key_pair()[0], "PREFLIGHT_STATE_DIR": str(state), "PREFLIGHT_DATABASE_URL": database}.items():
        monkeypatch.setenv(variable, value)

    assert main(["serve"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"preflight serve: {says.format(folder=tmp_path)}")
    assert said.count("\n") == 1
    assert "sekret" not in said


def test_a_key_that_cannot_sign_is_found_out_before_the_first_delivery(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in NEEDED.items():
        monkeypatch.setenv(name, value)

    assert main(["serve"]) == 2
    assert capsys.readouterr().err == "preflight serve: The private key cannot sign: it is damaged, or no RSA key. Make a new one on the App's page.\n"
