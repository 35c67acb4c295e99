"""Run git so that nothing of a repository or of the machine can change what it does.

No hooks, no configuration from outside, literal pathspecs, no transport but local folders.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ISOLATION = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "core.quotePath=false",
    "-c",
    "gc.auto=0",
    "-c",
    "safe.directory=*",
)
_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class GitError(Exception):
    """Git refused; the message is what it wrote on its error stream."""


def git(
    folder: Path,
    arguments: Sequence[str],
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What one git command in `folder` writes on its output.

    Raises:
        GitError: the command failed.

    """
    command = ["git", *_ISOLATION, "-C", str(folder), *arguments]
    done = subprocess.run(  # noqa: S603 - a fixed program, arguments passed as a list
        command,
        input=stdin,
        capture_output=True,
        env={**_ENVIRONMENT, **(environment or {})},
        check=False,
    )
    if done.returncode != 0:
        raise GitError(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
