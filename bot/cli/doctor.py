"""Say what keeps the bot from working: key, clock, reachability of GitHub, permissions, events, storage.

The environment is that of ``preflight serve``. Exit status 1 if anything is missing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.doctor import examine
from bot.settings import ServerSettings, SettingsError, from_environment


def run(words: Sequence[str]) -> int:
    """Run ``preflight doctor`` and return its exit status."""
    Parser("doctor", __doc__).parse_args(words)
    try:
        settings = from_environment(os.environ, Path.cwd())
    except SettingsError as error:
        raise UsageError(str(error)) from error
    return Exit.OK if asyncio.run(_told(settings)) else Exit.FOUND


async def _told(settings: ServerSettings) -> bool:
    """Print each diagnosis as it comes; gives whether all are good."""
    good = True
    async for diagnosis in examine(settings):
        print(f"{'ok     ' if diagnosis.good else 'missing'}  {diagnosis.says}")
        good = good and diagnosis.good
    return good
