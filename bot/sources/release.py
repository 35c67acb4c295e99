"""The files of one release on the shelf, read when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.sources.shelf import Source, sources


class Files(Mapping[str, bytes]):
    """A package's Python files by their path below the package's parent."""

    def __init__(self, package: Path) -> None:
        self._parent = package.parent
        self._paths = {path.relative_to(package.parent).as_posix(): path for path in package.rglob("*.py")}
        self._read: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._read:
            self._read[path] = self._paths[path].read_bytes()
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class LocalShelf:
    """Releases that are installed beside this program or were added (``estimator.sources.Shelf``)."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._opened: dict[Path, Files] = {}

    def release(self, library: str, wanted: tuple[int, ...]) -> Mapping[str, bytes] | None:
        """The release nearest to ``wanted``: the one that begins with it, else the oldest that is newer, else the newest of all."""
        found = [each for each in sources(self._folder) if each.library == library and each.path is not None]
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
