"""The App's credentials on disk: a key file and three lines of ``.env``, for the owner of the process alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.github.cache import write_whole
from bot.settings import SettingsError, dotenv

_NAMES = ("PREFLIGHT_APP_ID", "PREFLIGHT_WEBHOOK_SECRET", "PREFLIGHT_PRIVATE_KEY", "PREFLIGHT_PRIVATE_KEY_FILE")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What GitHub tells once, when an App is made."""

    app_id: int
    slug: str
    page: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)


def credentials_from(answer: Any) -> Credentials:
    """The credentials in GitHub's answer. Raises SettingsError where it names no webhook secret."""
    if not answer.get("webhook_secret"):
        raise SettingsError("GitHub made the App without a webhook secret: set one on its page and in PREFLIGHT_WEBHOOK_SECRET")
    return Credentials(answer["id"], answer["slug"], answer["html_url"], answer["pem"], answer["webhook_secret"])


def require_none(folder: Path) -> None:
    """Raise SettingsError where ``.env`` in ``folder`` has credentials already: they are not replaced."""
    present = [name for name in _NAMES if name in dotenv(folder / ".env")]
    if present:
        raise SettingsError(f"{folder / '.env'} holds {', '.join(present)} already; remove them to set up another App")


def write_credentials(credentials: Credentials, folder: Path) -> Path:
    """Write the key to a file of its own and the rest to ``.env``; gives the key's path. Both are readable by the owner alone."""
    require_none(folder)
    key = folder / f"{credentials.slug}.private-key.pem"
    write_whole(key, credentials.private_key.encode())
    env = folder / ".env"
    before = env.read_text(encoding="utf-8") if env.is_file() else ""
    gap = "" if before.endswith("\n") or not before else "\n"
    lines = [
        f"PREFLIGHT_APP_ID={credentials.app_id}",
        f"PREFLIGHT_PRIVATE_KEY_FILE={key.name}",
        f"PREFLIGHT_WEBHOOK_SECRET={credentials.webhook_secret}",
    ]
    write_whole(env, (before + gap + "\n".join(lines) + "\n").encode())
    return key
