"""Runs jobs in a child process, so that code which breaks LibCST costs one fix and not the analysis.

One process a batch, started only when there is something to edit. A batch that kills its process is tried again
in halves, so that only the job at fault is lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.fixes.change import ChangeRefusedError
from analysis.fixes.wire import Job, Refused, Rewritten, pack_jobs, unpack_answers

#: The child limits its processor time; this ends one that waits for nothing, and holds where processor time cannot be limited.
TIMEOUT_SECONDS = 60

#: Isolated from the working directory, the user's site and the environment: only our own package's folder is added, last.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from analysis.fixes.child import main; main()"
_ROOT = str(Path(__file__).resolve().parents[2])
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


def run(jobs: Sequence[Job]) -> list[Rewritten | Refused]:
    """An answer for every job, in order."""
    if not jobs:
        return []
    try:
        return _batch(jobs)
    except ChangeRefusedError as refusal:
        if len(jobs) == 1:
            return [Refused(str(refusal))]
    half = len(jobs) // 2
    return run(jobs[:half]) + run(jobs[half:])


def _batch(jobs: Sequence[Job]) -> list[Rewritten | Refused]:
    """The answers of one child process. Raises ChangeRefusedError if it died."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, _ROOT]
    try:
        done = subprocess.run(  # noqa: S603  # our own interpreter, our own program
            command, input=pack_jobs(jobs), capture_output=True, timeout=TIMEOUT_SECONDS, env=environment, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ChangeRefusedError(f"the process that edits failed: {type(error).__name__}") from error
    answers = unpack_answers(done.stdout)
    if len(answers) != len(jobs):
        raise ChangeRefusedError("the process that edits did not answer")
    return answers
