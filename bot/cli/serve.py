"""Run the bot: take webhooks, work on jobs, until it is interrupted.

What it needs stands in the environment, or in a .env file here: PREFLIGHT_APP_ID, PREFLIGHT_PRIVATE_KEY or
PREFLIGHT_PRIVATE_KEY_FILE, PREFLIGHT_WEBHOOK_SECRET; the README lists the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.app import serve
from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.database import DatabaseTakenError
from bot.settings import SettingsError, from_environment


def run(words: Sequence[str]) -> int:
    """Run ``preflight serve`` and return its exit status."""
    Parser("serve", __doc__).parse_args(words)
    try:
        settings = from_environment(os.environ, Path.cwd())
        print(f"listening on http://{settings.host}:{settings.port}", file=sys.stderr)
        serve(settings)
    except (SettingsError, DatabaseTakenError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}") from error
    return Exit.OK
