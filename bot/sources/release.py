"""The files of one release on the shelf, read when they are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from bot.sources.shelf import Source, sources


class Files(Mapping[str, bytes]):
    """A package's Python files by their path below the package's parent."""

    def __init__(self, package: Path) -> None:
        self._parent = package.parent
        self._paths = frozenset(_python_below(package, package.name))
        self._read: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._paths:
            raise KeyError(path)
        if path not in self._read:
            self._read[path] = (self._parent / path).read_bytes()
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._paths))

    def __len__(self) -> int:
        return len(self._paths)


def _python_below(folder: Path, name: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        path = f"{name}/{entry.name}"
        if entry.name.endswith(".py"):
            yield path
        elif entry.is_dir(follow_symlinks=False):
            yield from _python_below(Path(entry.path), path)


class LocalShelf:
    """Releases that are installed beside this program or were added to ``folder`` (``estimator.sources.Shelf``)."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._opened: dict[Path, Files] = {}

    def __repr__(self) -> str:
        """All releases, in order: what an estimate may depend on."""
        return f"LocalShelf({', '.join(f'{each.library}=={each.version}' for each in self._found)})"

    @cached_property
    def _found(self) -> tuple[Source, ...]:
        return tuple(each for each in sources(self._folder) if each.path is not None)

    def release(self, library: str, wanted: tuple[int, ...]) -> Mapping[str, bytes] | None:
        """The release nearest to ``wanted``: the one that begins with it, else the oldest that is newer, else the newest of all."""
        found = [each for each in self._found if each.library == library]
        if not found:
            return None
        path = _nearest(found, wanted).path
        if path is None:
            return None
        if path not in self._opened:
            self._opened[path] = Files(path)
        return self._opened[path]


def _nearest(found: list[Source], wanted: tuple[int, ...]) -> Source:
    numbered = sorted(((tuple(int(part) for part in re.findall(r"\d+", each.version)), each) for each in found), key=lambda pair: pair[0])
    if wanted:
        for numbers, each in reversed(numbered):
            if numbers[: len(wanted)] == wanted:
                return each
        for numbers, each in numbered:
            if numbers > wanted:
                return each
    return numbered[-1][1]
