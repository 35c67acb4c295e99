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


#: Calls by which ranks exchange something.
_EXCHANGE_NAMES = """
all_reduce all_gather all_gather_into_tensor all_gather_object gather gather_object gather_for_metrics broadcast barrier reduce_scatter full_tensor
wait_for_everyone
"""
_EXCHANGES = frozenset(_EXCHANGE_NAMES.split())
#: So many functions that exchange something are run for themselves.
_MOST_EXCHANGING = 6
#: So many modules of a changed file are run for themselves, and so many that measure what theirs put out.
_MOST_MODULES = 8
_MOST_MEASURING = 3


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A file run as a script, or one of its functions or classes (``qualname``); a class is driven by an imagined loop.

    ``together``: only what several ranks do there is of interest.
    """

    path: str
    qualname: str = ""
    together: bool = False


def candidates(index: Index, paths: Sequence[str]) -> list[tuple[Entry, Definition]]:
    """Functions and classes that train, those that no other of them calls first; whoever asks leaves out those that were reached."""
    training = _training(index, paths)
    targets = _Targets(training)
    called = {callee for caller in training for callee in targets.called_by(index, caller)}
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


def outermost_modules(index: Index, paths: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Some classes with a ``forward``, those that no other definition of their file names first: they run the others."""
    for path in paths:
        named = {name for each in index.facts[path].definitions for name in each.calls}
        found = sorted(stateful_modules(index, [path]), key=lambda each: each[0].qualname in named)
        yield from found[:_MOST_MODULES]


def measuring(index: Index, paths: Collection[str], changed: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Some modules that build one of the ``changed`` files' and compute a loss themselves: it shows what the output is taken for."""
    built = {entry.qualname for entry, _ in stateful_modules(index, changed)}
    near = [path for path in paths if path not in changed and not built.isdisjoint(_imported(index, path))]
    found = [each for each in stateful_modules(index, near) if not (calls := _calls_of(index, each[0])).isdisjoint(built) and any(map(_names_a_loss, calls))]
    yield from found[:_MOST_MEASURING]


def _imported(index: Index, path: str) -> set[str]:
    return {dotted.rpartition(".")[2] for dotted in index.facts[path].imports}


def _calls_of(index: Index, entry: Entry) -> set[str]:
    """The names of what the methods of a class call."""
    return {name for each in index.facts[entry.path].definitions if each.qualname.startswith(f"{entry.qualname}.") for name in each.calls}


def _names_a_loss(name: str) -> bool:
    return "loss" in name.lower() or "cross_entropy" in name


def exchanging(index: Index, paths: Collection[str]) -> Iterator[tuple[Entry, Definition]]:
    """Some functions by which ranks exchange something: who reaches them, and with what, shows in them too."""
    found = [(Entry(path, name, together=True), each) for path, name in _functions(index, paths) if (each := index.definitions(path)[name]).calls & _EXCHANGES]
    yield from found[:_MOST_EXCHANGING]


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
        targets = _Targets(found)
        more = [place for place in _functions(index, paths) if place not in found and any(True for _ in targets.called_by(index, place))]
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


class _Targets:
    """Functions by file and by the name that a call of them holds: their own, or that of their class."""

    def __init__(self, places: Collection[tuple[str, str]]) -> None:
        self._named: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for path, qualname in places:
            owner, _, name = qualname.rpartition(".")
            for key in dict.fromkeys((name, owner) if owner else (name,)):
                self._named.setdefault((path, key), []).append((path, qualname))

    def called_by(self, index: Index, caller: tuple[str, str]) -> Iterator[tuple[str, str]]:
        """Those that ``caller`` seems to call: by name, in its own file or in one that it imports."""
        path, qualname = caller
        imported = index.imports.get(path, ())
        passed_on = (each for package in imported if package in index.passing for each in index.imports.get(package, ()))
        for near in dict.fromkeys((path, *imported, *passed_on)):
            for called in index.calls_within(path)[qualname]:
                for place in self._named.get((near, called), ()):
                    owner, _, name = place[1].rpartition(".")
                    same_class = owner == qualname.rpartition(".")[0] and near == path
                    by_name = name == called and (name not in _GENERIC or same_class or (not owner and _takes(index, path, name)))
                    if place != caller and (by_name or (owner == called and not same_class)):
                        yield place


def _takes(index: Index, path: str, name: str) -> bool:
    """Whether the file imports something by that name."""
    return name in _imported(index, path)


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
