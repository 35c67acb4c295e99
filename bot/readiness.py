"""What has to hold before the server starts: a key that signs and a folder that can be written; found out at once, not with the first delivery."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import jwt

from bot.github.app_auth import app_jwt
from bot.settings import ServerSettings, SettingsError


def require_ready(settings: ServerSettings) -> None:
    """Raise SettingsError with what is wrong."""
    for reason in (why_no_signature(settings), why_not_written(settings.state_dir)):
        if reason:
            raise SettingsError(reason)


def why_no_signature(settings: ServerSettings) -> str:
    """Why the private key cannot sign; "" where it can."""
    try:
        app_jwt(settings.app_id, settings.private_key)
    except (jwt.InvalidKeyError, ValueError):
        return "The private key cannot sign: it is damaged, or no RSA key. Make a new one on the App's page."
    return ""


def why_not_written(folder: Path) -> str:
    """Why the state folder cannot be written; "" where it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return f"PREFLIGHT_STATE_DIR: {folder} cannot be written: {error.strerror}."
    return ""
