"""A working tree as a ``Snapshot``: the project around the files that were asked for, read once, links kept inside.

Paths in the snapshot count from the root of the project, as in the commit that the bot would read; ``shown`` turns them into paths
from the working directory. Nothing here waits: pipes and devices are named and passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.nearest import nearest
from analysis.notebook import ENDING as NOTEBOOK
from analysis.notebook import MAX_BYTES as NOTEBOOK_BYTES
from analysis.settings_file import FILES as SETTINGS_FILES
from analysis.snapshot import Snapshot, is_code
from analysis.source import MAX_BYTES, NotAnalysed
from bot.cli.file_content import read_file
from bot.cli.outcome import UsageError
from bot.cli.walk import Walk, walk
from bot.wanted_files import DATA_BYTES, is_wanted


@dataclass(frozen=True, slots=True)
class Folder:
    """What was read. ``requested`` are the Python files and notebooks asked for; ``skipped`` folders were passed over by their name."""

    root: Path
    snapshot: Snapshot
    requested: frozenset[str]
    not_analysed: tuple[NotAnalysed, ...]
    skipped: tuple[str, ...]
    truncated: bool

    def shown(self, path: str) -> str:
        """``path`` of the snapshot as seen from the working directory."""
        return Path(os.path.relpath(self.root / path)).as_posix()


def read_folder(paths: Sequence[Path]) -> Folder:
    """The project that holds ``paths`` (files and folders). Raises UsageError for a path that does not exist."""
    asked = [_existing(path) for path in paths]
    start = _common_folder(asked)
    root = _project_root(start)
    tree = walk(root, root)
    if tree.truncated and start != root:
        root, tree = start, walk(start, start)
    asked_trees = {path: walk(path, root) for path in asked if path.is_dir()}
    asked_files = [path.relative_to(root).as_posix() for path in asked if not path.is_dir()]
    return _read(root, tree, asked_trees, asked_files)


def _read(root: Path, tree: Walk, asked_trees: dict[Path, Walk], asked_files: list[str]) -> Folder:
    requested = {path for each in asked_trees.values() for path in each.files if is_code(path)}
    paths = {*tree.files, *requested, *asked_files}
    contents: dict[str, bytes] = {}
    failed: list[NotAnalysed] = []
    for path in sorted(paths):
        if not is_wanted(path, 0) and path not in asked_files:
            continue
        code = is_code(path)
        content = read_file(root, path, (NOTEBOOK_BYTES if path.endswith(NOTEBOOK) else MAX_BYTES) if code else DATA_BYTES)
        if isinstance(content, NotAnalysed):
            failed.append(content)
        elif code or is_wanted(path, len(content)) or path in asked_files:  # code that is too large is named by the analysis
            contents[path] = content
    failed += [NotAnalysed(path, "is not a Python file or notebook") for path in asked_files if path in contents and not is_code(path)]
    requested.update(path for path in asked_files if is_code(path))
    return Folder(
        root,
        Snapshot(frozenset(paths), contents),
        frozenset(requested),
        (*(each for each in failed if each.path in requested or each.path in asked_files), *_closed(asked_trees.values())),
        tuple(sorted({name for each in asked_trees.values() for name in each.skipped})),
        tree.truncated or any(each.truncated for each in asked_trees.values()),
    )


def _closed(trees: Iterable[Walk]) -> tuple[NotAnalysed, ...]:
    """Folders that may not be listed, each once; hidden ones and caches are no loss."""
    found = {each.path: each for tree in trees for each in tree.closed if not each.path.rstrip("/").rpartition("/")[2].startswith(".")}
    return tuple(found[path] for path in sorted(found))


def _existing(path: Path) -> Path:
    """``path`` without links on the way to it; its last part may be one, so that it keeps its name."""
    try:
        if not path.exists():
            broken = "is a link to nothing, or to itself" if path.is_symlink() else f"does not exist{_nearest_beside(path)}"
            raise UsageError(f"{path} {broken}")
        return path.resolve() if path.is_dir() else path.parent.resolve() / path.name
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _nearest_beside(path: Path) -> str:
    """``"; did you mean X?"`` for a name in the same folder that looks like a slip of this one; that both are ``.py`` says nothing."""
    beside = [path.with_name(entry.name) for entry in os.scandir(path.parent)] if path.parent.is_dir() else []
    names = {each.stem: each for each in beside if each.suffix == path.suffix and each.name != path.name}
    found = nearest(path.stem, names)
    return f"; did you mean {names[found]}?" if found else ""


def _common_folder(paths: Sequence[Path]) -> Path:
    folders = [path if path.is_dir() else path.parent for path in paths]
    return Path(os.path.commonpath(folders))


def _project_root(start: Path) -> Path:
    """The repository around ``start``, or the nearest folder with a configuration, or ``start`` itself."""
    around = (start, *start.parents)
    for folder in around:
        if (folder / ".git").exists():
            return folder
    for folder in around:
        if any((folder / name).is_file() for name in SETTINGS_FILES):
            return folder
    return start
