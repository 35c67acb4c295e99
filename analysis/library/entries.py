"""Where runs begin: scripts, then what trains and was reached by none, callers first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.facts import HOOKS, Definition

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from analysis.index import Index

_COMMON_NAMES = """
step update forward run eval train test fit backward zero_grad __init__ __call__ main log save load close reset get set to
"""
#: Method names that say nothing about whose method is called: they count as calls of a method of the same class alone.
_GENERIC = frozenset(_COMMON_NAMES.split())


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A file run as a script, or one of its functions or classes (``qualname``); a class is driven by an imagined loop."""

    path: str
    qualname: str = ""


def candidates(index: Index, paths: Sequence[str]) -> list[tuple[Entry, Definition]]:
    """Functions and classes that train, those that no other of them calls first; whoever asks leaves out those that were reached."""
    training = _training(index, paths)
    called = {callee for caller in training for callee in _callees(index, caller, training)}
    found: dict[Entry, Definition] = {}
    places = {path: place for place, path in enumerate(paths)}
    for path, qualname in sorted(training, key=lambda each: (each in called, places[each[0]], training_start(index, each))):
        definition = index.definitions(path)[qualname]
        entry = Entry(path, _driven(definition, index, path))
        found.setdefault(entry, definition)
    return list(found.items())


def training_start(index: Index, place: tuple[str, str]) -> int:
    """Where the function begins in its file."""
    return index.definitions(place[0])[place[1]].start


def stateful_modules(index: Index, paths: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Classes with a ``forward``: what theirs keeps from call to call shows only in a loop."""
    for path in paths:
        for found in index.facts[path].definitions:
            owner, _, name = found.qualname.rpartition(".")
            if name == "forward" and owner:
                yield Entry(path, owner), found


def _driven(definition: Definition, index: Index, path: str) -> str:
    """A hook is called by its class's framework: the class is the entry."""
    owner, _, name = definition.qualname.rpartition(".")
    around = index.definitions(path).get(owner)
    return owner if name in HOOKS and around is not None and around.is_class else definition.qualname


def _training(index: Index, paths: Collection[str]) -> dict[tuple[str, str], None]:
    """Functions that train or evaluate, and those that call one of them, in the order of the files."""
    found: dict[tuple[str, str], None] = {}
    for path in sorted(paths):
        definitions = index.definitions(path)
        for each in definitions.values():
            outermost = _outermost(each, definitions)
            if outermost is not None and (each.trains or each.evaluates or _runs_a_trainer(each)):
                found[path, outermost] = None
    for _ in range(3):
        more = [place for place in _functions(index, paths) if place not in found and any(True for _ in _callees(index, place, found))]
        if not more:
            break
        found.update(dict.fromkeys(more))
    return found


def _runs_a_trainer(definition: Definition) -> bool:
    """Whether it builds something called a trainer and runs it."""
    return "train" in definition.calls and any(name.endswith("Trainer") for name in definition.calls)


def _functions(index: Index, paths: Collection[str]) -> Iterator[tuple[str, str]]:
    for path in sorted(paths):
        definitions = index.definitions(path)
        yield from ((path, name) for name, each in definitions.items() if _outermost(each, definitions) == name)


def _callees(index: Index, caller: tuple[str, str], among: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Those of ``among`` that ``caller`` seems to call: by name, in its own file or in one that it imports."""
    if not among:
        return
    path, qualname = caller
    calls = index.calls_within(path)[qualname]
    near = {path, *index.imports.get(path, ())}
    for place in among:
        if place == caller or place[0] not in near:
            continue
        owner, _, name = place[1].rpartition(".")
        same_class = owner == qualname.rpartition(".")[0] and place[0] == path
        if (name in calls and (name not in _GENERIC or same_class)) or (owner and owner in calls and not same_class):
            yield place


def _outermost(found: Definition, definitions: dict[str, Definition]) -> str | None:
    """The outermost function around a definition, itself included; None for the top level and for classes."""
    outermost = None
    name = found.qualname
    while name:
        around = definitions.get(name)
        if around is not None and not around.is_class:
            outermost = name
        name = name.rpartition(".")[0]
    return outermost
