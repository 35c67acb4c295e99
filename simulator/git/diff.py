"""The diff between two commits, file by file, as GitHub lists it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.git.command import git
from simulator.git.objects import FileChange, Status

if TYPE_CHECKING:
    from simulator.git.repository import GitRepository

_STATUSES: dict[str, Status] = {
    "A": "added",
    "D": "removed",
    "M": "modified",
    "R": "renamed",
    "C": "copied",
    "T": "changed",
}
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_DIFF = ("diff-tree", "-r", "-M", "--no-color", "--no-ext-diff", "--no-textconv")
_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Row:
    status: str
    sha: str
    previous_path: str | None
    path: str


def changed_files(repository: GitRepository, older: str | None, newer: str) -> tuple[FileChange, ...]:
    """The files that differ between two commits; `older` None means that everything is new."""
    return _changed_files(repository.folder, older or _EMPTY_TREE, newer)


def unified_diff(repository: GitRepository, older: str, newer: str) -> str:
    """The whole diff as text."""
    return repository.run(*_DIFF, "-p", older, newer).decode(errors="replace")


@lru_cache(maxsize=256)
def _changed_files(folder: Path, older: str, newer: str) -> tuple[FileChange, ...]:
    rows = _rows(git(folder, [*_DIFF, "--raw", "-z", "--abbrev=40", older, newer]))
    if not rows:
        return ()
    patches = _SECTION.split(git(folder, [*_DIFF, "-p", older, newer]))[1:]
    files = []
    for row in rows:
        taken = 2 if row.status == "T" else 1  # a file that becomes a link is shown as removed, then added
        sections, patches = patches[:taken], patches[taken:]
        files.append(_file_change(row, sections))
    return tuple(files)


def _rows(raw: bytes) -> list[_Row]:
    parts = raw.decode(errors="surrogateescape").split("\0")
    rows = []
    at = 0
    while at < len(parts) - 1:
        _, _, old_sha, new_sha, status = parts[at].split(" ")
        letter = status[0]
        sha = old_sha if letter == "D" else new_sha
        if letter in "RC":
            rows.append(_Row(letter, sha, parts[at + 1], parts[at + 2]))
            at += 3
        else:
            rows.append(_Row(letter, sha, None, parts[at + 1]))
            at += 2
    return rows


def _file_change(row: _Row, sections: list[bytes]) -> FileChange:
    binary = any(b"\nBinary files " in section for section in sections)
    hunks = [section[at:] for section in sections if (at := section.find(b"\n@@ ") + 1)]
    patch = b"".join(hunks).decode(errors="replace").removesuffix("\n")
    lines = patch.split("\n")
    return FileChange(
        path=row.path,
        previous_path=row.previous_path,
        status=_STATUSES[row.status],
        sha=row.sha,
        additions=sum(line.startswith("+") for line in lines),
        deletions=sum(line.startswith("-") for line in lines),
        patch=None if binary or not hunks else patch,
    )
