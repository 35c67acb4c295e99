"""Run the bot: take webhooks, work on jobs, until it is interrupted.

What it needs stands in the environment, or in a .env file here: PREFLIGHT_APP_ID, PREFLIGHT_PRIVATE_KEY or
PREFLIGHT_PRIVATE_KEY_FILE, PREFLIGHT_WEBHOOK_SECRET; the README lists the rest. --setup makes the App first.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.app import serve
from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.database import DatabaseUnavailableError
from bot.settings import SettingsError, from_environment, setup_settings
from bot.setup.server import Setup, set_up


def run(words: Sequence[str]) -> int:
    """Run ``preflight serve`` and return its exit status."""
    parser = Parser("serve", __doc__)
    parser.add_argument("--setup", action="store_true", help="show a page that makes the GitHub App and writes its credentials to .env, then serve")
    try:
        if parser.parse_args(words).setup:
            _set_up()
        serve(from_environment(os.environ, Path.cwd()))
    except (SettingsError, DatabaseUnavailableError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"cannot listen: {error.strerror or error}") from error
    return Exit.OK


def _set_up() -> None:
    settings = setup_settings(os.environ, Path.cwd())
    set_already = [name for name in ("PREFLIGHT_APP_ID", "PREFLIGHT_WEBHOOK_SECRET") if os.environ.get(name)]
    if set_already:
        raise UsageError(f"{', '.join(set_already)} in the environment would go before what the setup writes; unset it first")
    setup = Setup(settings, Path.cwd())
    print(f"open http://{settings.host}:{settings.port}/setup?key={setup.key}", file=sys.stderr)
    asyncio.run(set_up(setup, settings.host, settings.port))
