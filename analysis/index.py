"""The facts of a whole snapshot, and who imports whom: what is asked before the interpreter starts.

Facts come from a store by content hash where it has them, so that a later commit costs only its changed files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from analysis.facts import Definition, Facts, facts_at, may_train
from analysis.launchers import launchers
from analysis.modules import Modules
from analysis.reexports import only_passes_on, touched_by
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed


@dataclass(slots=True, eq=False)
class Index:
    """``facts`` of the files that may train, of those that start such a one, and of all they import; ``not_analysed`` those that could not be read."""

    modules: Modules
    facts: dict[str, Facts] = field(default_factory=dict)
    not_analysed: list[NotAnalysed] = field(default_factory=list)
    imports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    importers: dict[str, list[str]] = field(default_factory=dict)
    #: Packages whose ``__init__`` does nothing but import names.
    passing: set[str] = field(default_factory=set)
    _definitions: dict[str, dict[str, Definition]] = field(default_factory=dict, repr=False)
    _calls: dict[str, dict[str, set[str]]] = field(default_factory=dict, repr=False)

    def definitions(self, path: str) -> dict[str, Definition]:
        """The definitions of a file by qualified name; kept, because there may be thousands."""
        if path not in self._definitions:
            self._definitions[path] = {found.qualname: found for found in self.facts[path].definitions}
        return self._definitions[path]

    def calls_within(self, path: str) -> dict[str, set[str]]:
        """What each definition of a file calls, in its own body and in the definitions inside it."""
        if path not in self._calls:
            within: dict[str, set[str]] = {found.qualname: set() for found in self.facts[path].definitions}
            for found in self.facts[path].definitions:
                name = found.qualname
                within[name].update(found.calls)
                while name := name.rpartition(".")[0]:
                    within.get(name, set()).update(found.calls)
            self._calls[path] = within
        return self._calls[path]

    def reached_from(self, paths: Iterable[str]) -> frozenset[str]:
        """``paths`` and everything they import, directly or not."""
        return _closure(paths, self.imports)

    def reaching(self, paths: Iterable[str]) -> frozenset[str]:
        """``paths`` and everything that imports them, directly or not; of packages that only pass names on, what takes theirs."""
        return frozenset(touched_by(self, paths))

    def distances(self, paths: Iterable[str]) -> dict[str, int]:
        """``paths`` and the files that a change in them touches, with the number of imports between each and the nearest of them."""
        return touched_by(self, paths)

    def readers(self, data_path: str) -> tuple[str, ...]:
        """Python files that name the data file, by its whole path or by its last part."""
        name = data_path.rpartition("/")[2]
        return tuple(path for path, facts in self.facts.items() if any(text == data_path or text.rpartition("/")[2] == name for text in facts.data_files))


#: Of the snapshots that are in use: several ask for the index of one.
_BUILT: WeakKeyDictionary[Snapshot, Index] = WeakKeyDictionary()


def index(snapshot: Snapshot, store: MutableMapping[str, Facts] | None = None) -> Index:
    """The index of ``snapshot``, built once; ``store`` keeps facts from one commit to the next."""
    if snapshot not in _BUILT:
        _BUILT[snapshot] = _index(snapshot, {} if store is None else store)
    return _BUILT[snapshot]


def _index(snapshot: Snapshot, kept: MutableMapping[str, Facts]) -> Index:
    built = Index(Modules(snapshot))
    paths = list(snapshot.python_paths())
    naming = [path for path in paths if may_train(snapshot.contents[path])]
    seen = set(naming)
    _take_in(built, snapshot, naming, seen, kept)
    outside = launchers(snapshot, built.modules, [path for path in paths if path not in seen], built.imports, kept)
    seen.update(outside)
    _take_in(built, snapshot, outside, seen, kept)
    built.not_analysed.sort(key=lambda failed: failed.path)
    return built


def _take_in(built: Index, snapshot: Snapshot, paths: Iterable[str], seen: set[str], kept: MutableMapping[str, Facts]) -> None:
    """Add the files ``paths`` and all they import."""
    todo = deque(paths)
    while todo:
        path = todo.popleft()
        facts = facts_at(snapshot, path, kept)
        if isinstance(facts, NotAnalysed):
            built.not_analysed.append(facts)
            continue
        built.facts[path] = facts
        if only_passes_on(path, facts, snapshot.contents[path]):
            built.passing.add(path)
        resolved = (each for dotted in facts.imports for each in built.modules.all_of(dotted, path, path))
        built.imports[path] = tuple(dict.fromkeys(found for found in resolved if found != path))
        for found in built.imports[path]:
            built.importers.setdefault(found, []).append(path)
            if found not in seen and found in snapshot.contents:
                seen.add(found)
                todo.append(found)


def _closure(paths: Iterable[str], edges: dict[str, tuple[str, ...]]) -> frozenset[str]:
    seen = set(paths)
    todo = list(seen)
    while todo:
        for following in edges.get(todo.pop(), ()):
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return frozenset(seen)
