"""Which of the wanted files of a commit are read, where not all of them fit the budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.github.tree import Tree
from bot.settings import WorkerLimits
from bot.wanted_files import CODE, is_wanted


def touches_training(paths: Iterable[str]) -> bool:
    """Whether any of the changed ``paths`` is worth an analysis; documentation and pictures are not."""
    return any(is_wanted(path, 0) for path in paths)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Files to read, and how many wanted ones did not fit the budget."""

    files: Tree
    left_out: int


def choose(tree: Tree, changed: Iterable[str], limits: WorkerLimits) -> Chosen:
    """The wanted files of ``tree`` within ``limits``: changed ones first, then those nearest to them, code before data."""
    folders = {str(PurePosixPath(path).parent) for path in changed}
    changed_paths = set(changed)
    wanted = [(path, file) for path, file in tree.items() if is_wanted(path, file.size)]

    def order(entry: tuple[str, object]) -> tuple[bool, int, bool, str]:
        path = PurePosixPath(entry[0])
        return (entry[0] not in changed_paths, _distance(path, folders), path.suffix not in CODE, entry[0])

    files: Tree = {}
    total = 0
    for path, file in sorted(wanted, key=order):
        total += file.size
        if total > limits.source_bytes or len(files) >= limits.files:
            break
        files[path] = file
    return Chosen(files, len(wanted) - len(files))


def _distance(path: PurePosixPath, folders: set[str]) -> int:
    """How many folders up until one that holds a change, or holds its folder."""
    above = [str(parent) for parent in path.parents]
    return next((steps for steps, folder in enumerate(above) if folder in folders), len(above))
