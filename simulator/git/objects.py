"""What git repositories are made of, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

FILE_MODE = "100644"
EXECUTABLE_MODE = "100755"
SYMLINK_MODE = "120000"
SUBMODULE_MODE = "160000"
TREE_MODE = "040000"

EntryType = Literal["blob", "tree", "commit"]
Status = Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One row of a tree. `size` is the number of bytes of a blob, None for trees and submodules."""

    path: str
    mode: str
    type: EntryType
    sha: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Signature:
    """Who wrote or stored a commit, and when."""

    name: str
    email: str
    date: datetime


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as stored."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True, slots=True)
class FileWrite:
    """New content of one path, with the mode it is stored under; of a submodule the id of its commit."""

    content: bytes
    mode: str = FILE_MODE


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a diff. `patch` is the hunks in unified form, None when git calls the file binary."""

    path: str
    previous_path: str | None
    status: Status
    sha: str
    additions: int
    deletions: int
    patch: str | None
