"""Meters: objects that take in the results of batch after batch, and give one number at the end. Whoever evaluates calls them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from analysis.library.entries import Entry

if TYPE_CHECKING:
    from analysis.facts import Definition
    from analysis.index import Index

#: What takes in a batch, and what gives the number, in the order in which they are looked for.
UPDATES = ("update", "__call__", "add_batch", "add", "process")
RESULTS = ("compute", "get_metric", "result", "value", "get", "evaluate", "summary")
#: Functions by which it takes in what other ranks have.
_COLLECTIVES = frozenset({"all_reduce", "all_gather", "reduce"})


def meters(index: Index, paths: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Classes that are meters and ask other ranks, with what takes in a batch."""
    for path in paths:
        methods: dict[str, dict[str, Definition]] = {}
        for found in index.facts[path].definitions:
            owner, _, name = found.qualname.rpartition(".")
            methods.setdefault(owner, {})[name] = found
        for owner, own in methods.items():
            names = pair(own)
            if owner and names is not None and any(each.calls & _COLLECTIVES for each in own.values()):
                yield Entry(path, owner), own[names[0]]


def pair(names: Collection[str]) -> tuple[str, str] | None:
    """The method that takes in a batch and the one that gives the number, if both are among ``names``."""
    update = next((name for name in UPDATES if name in names), None)
    result = next((name for name in RESULTS if name in names), None)
    return None if update is None or result is None else (update, result)
