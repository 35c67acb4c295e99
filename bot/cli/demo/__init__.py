"""A pull request with real training code and its review, on a GitHub simulated on this machine.

The bot runs on its embedded database as it would for GitHub; nothing leaves the machine. The conversation is
printed, and served as a web page until Ctrl-C.
"""

from __future__ import annotations

import asyncio
import errno
import sys
from collections.abc import Sequence

from bot.cli.demo.conversation import as_text
from bot.cli.demo.expected import missing
from bot.cli.demo.stage import Stage, stage
from bot.cli.outcome import Exit, UsageError
from bot.cli.parser import Parser
from bot.cli.terminal import Paint, progress


def run(words: Sequence[str]) -> int:
    """Run ``preflight demo`` and return its exit status: 1 if the review lacks anything that it should hold."""
    parser = Parser("demo", __doc__)
    parser.add_argument("--once", action="store_true", help="end after printing")
    parser.add_argument("--port", type=int, default=8100, help="of the web page on 127.0.0.1 (default: 8100; 0: any that is free)")
    options = parser.parse_args(words)
    port = 0 if options.once else options.port
    try:
        return asyncio.run(_show(port, once=options.once))
    except KeyboardInterrupt:  # how the page is meant to end
        return Exit.OK
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise UsageError(f"port {port} is taken; --port 0 takes one that is free") from error


async def _show(port: int, *, once: bool) -> int:
    async with stage(port) as set_up:
        with progress("opening a pull request and waiting for its review"):
            await set_up.play()
        print(as_text(set_up.pull, set_up.runs, Paint.of(sys.stdout)))
        lacking = missing(set_up.pull, set_up.runs, set_up.violations)
        for sentence in lacking:
            print(f"preflight demo: {sentence}", file=sys.stderr)
        if not once:
            await _serve(set_up)
        return Exit.FOUND if lacking else Exit.OK


async def _serve(set_up: Stage) -> None:
    print(f"\nThe same as a page: {set_up.page} (Ctrl-C ends it)", flush=True)
    await asyncio.Event().wait()
