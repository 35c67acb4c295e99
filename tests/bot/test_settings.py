"""The server starts only with everything it needs, and says what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.settings import ServerSettings, SettingsError, from_environment
from bot.sources.shelf import shelf

KEY = "-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\n"
WHOLE = {"PREFLIGHT_APP_ID": "7", "PREFLIGHT_PRIVATE_KEY": KEY, "PREFLIGHT_WEBHOOK_SECRET": "s3cret"}


def test_defaults(tmp_path: Path) -> None:
    settings = from_environment(WHOLE, tmp_path)
    assert (settings.app_id, settings.webhook_secrets, settings.host, settings.port) == (7, (b"s3cret",), "127.0.0.1", 8080)
    assert settings.graphql_url == "https://api.github.com/graphql"
    assert settings.database_url == f"sqlite:///{tmp_path}/.preflight/jobs.sqlite"
    assert settings.sources_dir == shelf({})


def test_the_folder_of_the_libraries_source_is_the_operators_to_choose(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PREFLIGHT_SOURCES_DIR=/srv/sources\n")
    assert from_environment(WHOLE, tmp_path).sources_dir == Path("/srv/sources")


def test_everything_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        from_environment({}, tmp_path)
    assert str(raised.value) == (
        "not set: PREFLIGHT_APP_ID, PREFLIGHT_WEBHOOK_SECRET, PREFLIGHT_PRIVATE_KEY or PREFLIGHT_PRIVATE_KEY_FILE. "
        "Set them in the environment or in a .env file here."
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"PREFLIGHT_WEBHOOK_SECRET": "  "}, "not set: PREFLIGHT_WEBHOOK_SECRET"),
        ({"PREFLIGHT_WEBHOOK_SECRET": "one,,two"}, "empty secret between its commas"),
        ({"PREFLIGHT_APP_ID": "seven"}, "PREFLIGHT_APP_ID must be a number"),
        ({"PREFLIGHT_PRIVATE_KEY": "no key"}, "not in PEM form"),
        ({"PREFLIGHT_PRIVATE_KEY": "", "PREFLIGHT_PRIVATE_KEY_FILE": "nowhere.pem"}, "nowhere.pem cannot be read"),
        ({"PREFLIGHT_GITHUB_API_URL": "ftp://x"}, "not an http(s) URL"),
        ({"PREFLIGHT_DATABASE_URL": "mysql://x"}, "must begin with sqlite:/// or postgresql://"),
        ({"PREFLIGHT_PORT": "-1"}, "PREFLIGHT_PORT must be a number"),
        ({"PREFLIGHT_LOG_LEVEL": "loud"}, "PREFLIGHT_LOG_LEVEL must be DEBUG"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, changed: Mapping[str, str], says: str) -> None:
    with pytest.raises(SettingsError) as raised:
        from_environment({**WHOLE, **changed}, tmp_path)
    assert says in str(raised.value)


def test_an_empty_secret_cannot_be_constructed(tmp_path: Path) -> None:
    for secrets in ((), (b"",), (b"one", b"")):
        with pytest.raises(SettingsError, match="must not be empty"):
            ServerSettings(app_id=1, private_key=KEY, webhook_secrets=secrets, state_dir=tmp_path)


def test_a_dotenv_file_is_read_and_the_environment_goes_before_it(tmp_path: Path) -> None:
    escaped = KEY.replace("\n", "\\n")
    lines = ["# the App", "export PREFLIGHT_APP_ID=8", f'PREFLIGHT_PRIVATE_KEY="{escaped}"', "PREFLIGHT_WEBHOOK_SECRET='a,b'", ""]
    (tmp_path / ".env").write_text("\n".join(lines))
    settings = from_environment({"PREFLIGHT_APP_ID": "9"}, tmp_path)
    assert (settings.app_id, settings.private_key, settings.webhook_secrets) == (9, KEY.strip(), (b"a", b"b"))
    (tmp_path / ".env").write_text("PREFLIGHT_APP_ID\n")
    with pytest.raises(SettingsError, match=r"\.env:1: expected NAME=value"):
        from_environment({}, tmp_path)


def test_an_enterprise_server(tmp_path: Path) -> None:
    settings = from_environment({**WHOLE, "PREFLIGHT_GITHUB_API_URL": "https://git.example/api/v3/"}, tmp_path)
    assert (settings.api_url, settings.graphql_url) == ("https://git.example/api/v3", "https://git.example/api/graphql")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    shown = repr(from_environment({**WHOLE, "PREFLIGHT_DATABASE_URL": "postgresql://me:hidden@host/x"}, tmp_path))
    assert not any(secret in shown for secret in ("s3cret", "BEGIN RSA", "hidden"))
