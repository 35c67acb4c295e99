"""Handlers of a loop's events: objects that register methods of theirs with the engine that runs it. Whoever trains attaches them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from analysis.library.entries import Entry

if TYPE_CHECKING:
    from analysis.facts import Definition
    from analysis.index import Index

#: The method that is given the engine, and what it calls there.
ATTACH = "attach"
_REGISTERS = "add_event_handler"


def handlers(index: Index, paths: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Classes whose objects are attached to an engine, with the method that does it."""
    for path in paths:
        for found in index.facts[path].definitions:
            owner, _, name = found.qualname.rpartition(".")
            if owner and name == ATTACH and _REGISTERS in found.calls:
                yield Entry(path, owner), found
