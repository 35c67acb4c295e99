"""Methods of a changed class that leave a step to its subclasses: run on its own, such a method comes to the step that does nothing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from analysis.library.entries import Entry
from analysis.source import NotAnalysed

if TYPE_CHECKING:
    from analysis.facts import Definition
    from analysis.index import Index
    from analysis.snapshot import Snapshot

#: So many subclasses are run for the methods that they inherit.
_MOST_SUBCLASSES = 3


def filled_in(
    snapshot: Snapshot, index: Index, paths: Collection[str], changed: Collection[str], trained: Sequence[tuple[Entry, Definition]]
) -> Iterator[tuple[Entry, Definition]]:
    """A method that a class inherits from a changed one, for some classes that define what it calls; with the definition that fills it in."""
    methods: dict[str, list[Entry]] = {}
    for entry, definition in trained:
        owner, _, name = entry.qualname.rpartition(".")
        if entry.path in changed and owner and "." not in owner and name and not definition.is_class:
            methods.setdefault(owner, []).append(entry)
    left = _MOST_SUBCLASSES
    for path in paths if methods else ():
        near = {path, *index.imports.get(path, ())}
        for node in _classes(snapshot, path):
            inherited = (entry for base in _bases(node) for entry in methods.get(base, ()) if entry.path in near)
            found = next(filter(None, (_filled(index, path, node, entry) for entry in inherited)), None)
            if found is not None and left:
                left -= 1
                yield found


def _filled(index: Index, path: str, node: ast.ClassDef, entry: Entry) -> tuple[Entry, Definition] | None:
    base, _, method = entry.qualname.rpartition(".")
    own = index.definitions(path)
    called = {name for each in index.facts[entry.path].definitions if each.qualname.startswith(f"{base}.") for name in each.calls}
    steps = [f"{node.name}.{name}" for name in called if not name.startswith("__")]
    step = min((own[name] for name in steps if name in own and not own[name].is_class), key=lambda each: each.start, default=None)
    return None if step is None or f"{node.name}.{method}" in own else (Entry(path, f"{node.name}.{method}"), step)


def _classes(snapshot: Snapshot, path: str) -> Iterator[ast.ClassDef]:
    source = snapshot.source(path)
    if not isinstance(source, NotAnalysed):
        yield from (node for node in source.tree.body if isinstance(node, ast.ClassDef))


def _bases(node: ast.ClassDef) -> Iterator[str]:
    """The last names of what a class inherits from."""
    for base in node.bases:
        match base:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
