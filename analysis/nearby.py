"""The files that a change may touch, found before all others are parsed: an import names its module, so its text holds the name.

In a large repository a change reaches a few dozen files of a thousand. What is found here is more than that, never less:
``scope`` then tells exactly.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, MutableMapping

from analysis.facts import BY_NAME, Facts, facts_at
from analysis.modules import Modules
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed

#: A change that reaches more files than this reaches most: then all are looked at.
_MOST = 40
_WORD = re.compile(rb"\w+")
_RELATIVE = re.compile(rb"\bfrom\s*\.")


def nearby(snapshot: Snapshot, starts: Iterable[str], store: MutableMapping[str, Facts]) -> frozenset[str] | None:
    """``starts`` and every file that imports one of them, directly or not; None where they are too many to be worth telling apart."""
    found = set(starts)
    todo = sorted(found)
    if not todo:
        return frozenset()
    imports = _Imports(snapshot, store)
    while todo and len(found) <= _MOST:
        target = todo.pop()
        importers = [path for path in sorted(imports.naming(target) - found) if target in imports.of(path)]
        found.update(importers)
        todo.extend(importers)
    return frozenset(found) if len(found) <= _MOST else None


def around(snapshot: Snapshot, paths: Collection[str], store: MutableMapping[str, Facts]) -> Snapshot:
    """The same commit; of its Python files only those are looked at that ``paths`` may have to do with."""
    near = nearby(snapshot, paths, store) if any(path not in paths for path in snapshot.python_paths()) else None
    return snapshot if near is None else snapshot.narrowed(near)


def naming(snapshot: Snapshot, data_path: str) -> Iterator[str]:
    """Python files whose text holds the name of a data file, or whose name a launch file holds."""
    text, name = snapshot.contents.get(data_path, b""), data_path.rpartition("/")[2].encode()
    for path in snapshot.python_paths():
        if name in snapshot.contents[path] or path.rpartition("/")[2].encode() in text:
            yield path


class _Imports:
    """What the Python files of a snapshot import: by their text first, and by their facts where that names what is looked for."""

    def __init__(self, snapshot: Snapshot, store: MutableMapping[str, Facts]) -> None:
        self._snapshot = snapshot
        self._store = store
        self._modules = Modules(snapshot)
        self._files: dict[str, frozenset[str]] = {}
        self._naming: dict[bytes, set[str]] = defaultdict(set)
        self._by_name: set[str] = set()
        self._by_dots: set[str] = set()
        for path in snapshot.python_paths():
            self._read(path, snapshot.contents[path])

    def naming(self, target: str) -> frozenset[str]:
        """Files that may import ``target``, as far as the text of their import statements tells."""
        package = target.removesuffix("__init__.py")
        if package == target:
            return frozenset(self._named(target.removesuffix(".py")) | self._by_name)
        inside = {path for path in self._by_dots if path.startswith(package)}
        return frozenset(self._named(package.rstrip("/")) | self._by_name | inside)

    def of(self, path: str) -> frozenset[str]:
        """The files that ``path`` imports."""
        if path not in self._files:
            facts = facts_at(self._snapshot, path, self._store)
            dotted = () if isinstance(facts, NotAnalysed) else facts.imports
            self._files[path] = frozenset(found for each in dotted for found in self._modules.all_of(each, path, path))
        return self._files[path]

    def _read(self, path: str, raw: bytes) -> None:
        text = b"\n".join(_statements(raw))
        for word in set(_WORD.findall(text)):
            self._naming[word].add(path)
        if _RELATIVE.search(text):
            self._by_dots.add(path)
        if BY_NAME in raw:
            self._by_name.add(path)

    def _named(self, module: str) -> set[str]:
        return self._naming.get(module.rpartition("/")[2].encode(), set())


def _statements(raw: bytes) -> Iterator[bytes]:
    """The lines in which something is imported, with those that they go on in."""
    open_bracket = goes_on = False
    for line in raw.splitlines():
        if open_bracket or goes_on or b"import" in line:
            yield line
            open_bracket = b")" not in line and (open_bracket or b"(" in line)
            goes_on = line.endswith(b"\\")
