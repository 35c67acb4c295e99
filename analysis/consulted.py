"""What a run looked at in its snapshot: in any other that shows the same it would end the same, and need not be run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analysis.modules import Modules, Resolved
from analysis.snapshot import Snapshot


class Watched(Mapping[str, bytes]):
    """The contents of a snapshot, which remember what was asked of them. ``listed``: their paths, if somebody went through all of them."""

    __slots__ = ("_contents", "asked", "listed")

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self.asked: dict[str, bytes | None] = {}
        self.listed: frozenset[str] | None = None

    def __getitem__(self, path: str) -> bytes:
        found = self.asked[path] = self._contents.get(path)
        if found is None:
            raise KeyError(path)
        return found

    def __iter__(self) -> Iterator[str]:
        self.listed = frozenset(self._contents)
        return iter(self._contents)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def ask(self, contents: Mapping[str, bytes]) -> None:
        """Ask ``contents``, which may remember it, what was asked of these until now."""
        for path in self.asked:
            contents.get(path)
        if self.listed is not None:
            frozenset(contents)

    def alike(self, contents: Mapping[str, bytes]) -> bool:
        """Whether ``contents`` would have answered what was asked until now as these did."""
        return _alike(self.asked, self.listed, contents)


def _alike(asked: Mapping[str, bytes | None], listed: frozenset[str] | None, contents: Mapping[str, bytes]) -> bool:
    return all(contents.get(path) == raw for path, raw in asked.items()) and (listed is None or listed == contents.keys())


@dataclass(frozen=True, slots=True, eq=False)
class Consulted:
    """The files that the runs of one entry point read, missed or listed, and how the names of its imports were resolved."""

    entry_path: str
    files: Mapping[str, bytes | None]
    listed: frozenset[str] | None
    modules: Modules
    resolved: Resolved

    @classmethod
    def by(cls, entry_path: str, contents: Watched, modules: Modules) -> Consulted:
        """What was asked of ``contents`` and ``modules`` until now."""
        return cls(entry_path, contents.asked, contents.listed, modules, dict(modules.resolved(entry_path)))

    def holds(self, snapshot: Snapshot, modules: Modules) -> bool:
        """Whether the other snapshot would have answered alike."""
        if not _alike(self.files, self.listed, snapshot.contents):
            return False
        same = modules is self.modules or modules.paths == self.modules.paths
        return same or all(modules.resolve(dotted, importer, self.entry_path) == path for (dotted, importer), path in self.resolved.items())
