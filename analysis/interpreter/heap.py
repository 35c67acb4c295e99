"""Writes that can be undone: how both sides of an undecided branch start from the same state.

While no branch is open nothing is recorded, so that the tape's objects are held by nobody but the guest.
"""

from __future__ import annotations

from typing import TypeAlias

from analysis.interpreter.joins import join, same
from analysis.interpreter.values import MISSING, Value

Mapping: TypeAlias = dict[Value, Value]
#: What a container held: the undo entry of a whole list, dict or set.
Content: TypeAlias = list[Value] | dict[Value, Value] | set[Value]


class Delta:
    """The writes of one arm: for each cell or container, what it was and what the arm left there."""

    __slots__ = ("cells", "contents")

    def __init__(self) -> None:
        self.cells: dict[tuple[int, Value], tuple[Mapping, Value, Value]] = {}
        self.contents: dict[int, tuple[Content, Content, Content]] = {}


class Heap:
    """The undo log. ``write`` and ``touch`` stand before every change of a guest object."""

    __slots__ = ("log",)

    def __init__(self) -> None:
        #: Entries (mapping, key, old value) or (container, None, old content); None while no branch is open.
        self.log: list[tuple[Value, Value, Value, bool]] | None = None

    def write(self, cells: Mapping, key: Value, value: Value) -> None:
        """``cells[key] = value``."""
        if self.log is not None:
            self.log.append((cells, key, cells.get(key, MISSING), False))
        cells[key] = value

    def delete(self, cells: Mapping, key: Value) -> None:
        """``del cells[key]``; the key may be absent."""
        if self.log is not None:
            self.log.append((cells, key, cells.get(key, MISSING), False))
        cells.pop(key, None)

    def touch(self, container: Content) -> None:
        """The content of a list, dict or set is about to change in a way of its own."""
        if self.log is not None:
            self.log.append((container, None, container.copy(), True))

    def begin(self) -> int | None:
        """An arm begins. Returns the mark to give to ``take``; None if this arm opened the log."""
        if self.log is None:
            self.log = []
            return None
        return len(self.log)

    def take(self, mark: int | None) -> Delta:
        """An arm ends: its writes, undone."""
        log = self.log or []
        entries = log[mark or 0 :]
        del log[mark or 0 :]
        delta = Delta()
        for target, key, old, whole in entries:
            if whole:
                delta.contents.setdefault(id(target), (target, old, target.copy()))
            else:
                name = (id(target), key)
                if name not in delta.cells:
                    delta.cells[name] = (target, old, target.get(key, MISSING))
        for target, key, old, whole in reversed(entries):
            if whole:
                _restore(target, old)
            elif old is MISSING:
                target.pop(key, None)
            else:
                target[key] = old
        if mark is None:
            self.log = None
        return delta

    def merge(self, deltas: list[Delta], *, divided: bool = False) -> None:
        """The state after arms of which any may have been taken: written cells are joined, others stay. ``divided``: ranks took different ones."""
        cells: dict[tuple[int, Value], Mapping] = {name: entry[0] for delta in deltas for name, entry in delta.cells.items()}
        for name, target in cells.items():
            now = target.get(name[1], MISSING)
            results = [delta.cells[name][2] if name in delta.cells else now for delta in deltas]
            self._settle(target, name[1], results, divided=divided)
        contents = {key: entry[0] for delta in deltas for key, entry in delta.contents.items()}
        for key, container in contents.items():
            results = [delta.contents[key][2] if key in delta.contents else container.copy() for delta in deltas]
            self.touch(container)
            _restore(container, _join_contents(results))

    def _settle(self, target: Mapping, key: Value, results: list[Value], *, divided: bool) -> None:
        present = [value for value in results if value is not MISSING]
        if not present:
            self.delete(target, key)
            return
        value = present[0]
        for other in present[1:]:
            value = value if same(value, other) else join(value, other, divided=divided)
        self.write(target, key, value)


def _restore(container: Content, content: Content) -> None:
    container.clear()
    if isinstance(container, list):
        container.extend(content)
    else:
        container.update(content)


def _join_contents(results: list[Content]) -> Content:
    """The union of what the arms left: a list as long as the longest, with items joined place by place."""
    joined = results[0]
    for other in results[1:]:
        if isinstance(joined, list) and isinstance(other, list):
            longer, shorter = (joined, other) if len(joined) >= len(other) else (other, joined)
            joined = [join(a, b) for a, b in zip(longer, shorter, strict=False)] + longer[len(shorter) :]
        elif isinstance(joined, dict) and isinstance(other, dict):
            joined = {key: join(joined[key], other[key]) if key in joined and key in other else joined.get(key, other.get(key)) for key in {**joined, **other}}
        elif isinstance(joined, set) and isinstance(other, set):
            joined = joined | other
    return joined
