"""``preflight serve``, or with the word "worker" ``preflight worker``, with the worker of these tests and without GitHub's pauses; everything else as it comes."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from bot.app import serve, work
from bot.settings import from_environment
from tests.bot.server.conftest import HURRIED, WORKER

if __name__ == "__main__":
    run = work if "worker" in sys.argv[1:] else serve
    run(replace(from_environment(os.environ, Path.cwd()), worker_command=WORKER, pace=replace(HURRIED, settle=2.0)))
    sys.exit(0)
