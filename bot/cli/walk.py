"""The files below a folder, in a fixed order and bounded: folders that hold no code of the project's own are passed over."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from analysis.source import NotAnalysed

#: Version control, environments, build output and caches.
SKIPPED = frozenset(
    {
        ".bzr", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv",
        "__pycache__", "__pypackages__", "build", "dist", "env", "node_modules", "site-packages", "venv", "wandb",
    }
)  # fmt: skip
#: Above this a folder is no project but a home or a disk.
MAX_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Walk:
    """``files`` are paths from the root; ``skipped`` the folders passed over, with a slash at the end; ``truncated``: there are more files.

    ``closed`` are the folders that may not be listed.
    """

    files: tuple[str, ...]
    skipped: tuple[str, ...]
    truncated: bool
    closed: tuple[NotAnalysed, ...] = ()


def walk(folder: Path, root: Path) -> Walk:
    """All files below ``folder``, which lies in ``root``. ``folder`` itself is entered whatever its name; links to folders are not."""
    files: list[str] = []
    skipped: list[str] = []
    closed: list[NotAnalysed] = []
    waiting = [folder]
    while waiting and len(files) < MAX_FILES:
        inner: list[Path] = []
        listed = waiting.pop()
        entries = _entries(listed)
        if isinstance(entries, str):
            closed.append(NotAnalysed(f"{listed.relative_to(root).as_posix()}/", f"cannot be listed: {entries}"))
            continue
        for entry in entries:
            path = Path(entry.path)
            if not entry.is_dir(follow_symlinks=False):
                if not _leads_to_a_folder(path):
                    files.append(path.relative_to(root).as_posix())
            elif entry.name in SKIPPED or _is_environment(path):
                skipped.append(path.relative_to(root).as_posix() + "/")
            else:
                inner.append(path)
        waiting += reversed(inner)
    return Walk(tuple(files[:MAX_FILES]), tuple(skipped), bool(waiting) or len(files) > MAX_FILES, tuple(closed))


def _entries(folder: Path) -> list[os.DirEntry[str]] | str:
    """What ``folder`` holds, by name; the system's words where it may not be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        return error.strerror or type(error).__name__


def _leads_to_a_folder(path: Path) -> bool:
    """Whether a link leads to a folder; one whose end may not be looked at counts as a file, and reading it says why it cannot be."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_environment(folder: Path) -> bool:
    try:
        return (folder / "pyvenv.cfg").exists()
    except OSError:  # a folder that may not be entered: it is shown as empty
        return False
