"""Work on the bot's jobs beside other processes of it, until it is interrupted; PostgreSQL only.

The environment is that of ``preflight serve``. No webhooks are taken: health and metrics are served on PREFLIGHT_PORT.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bot.app import work
from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.database import DatabaseUnavailableError
from bot.settings import SettingsError, from_environment


def run(words: Sequence[str]) -> int:
    """Run ``preflight worker`` and return its exit status."""
    Parser("worker", __doc__).parse_args(words)
    try:
        settings = from_environment(os.environ, Path.cwd())
        work(settings)
    except (SettingsError, DatabaseUnavailableError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}") from error
    return Exit.OK
