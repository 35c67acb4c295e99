"""What runs begin with: the imports at the top of a file, or the loading of the file, made once for all of them.

Top levels are run as a program on its own does it, with undecided flags on. A run begins where the imports ended, unless they asked
for something that it answers otherwise. An entry may begin where the imports of another one ended, if it makes all of them itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.consulted import Watched
from analysis.interpreter.checkpoint import CannotKeepError, Checkpoint
from analysis.interpreter.frames import Frame
from analysis.interpreter.machine import Machine
from analysis.interpreter.signals import BudgetSpent, GuestRaise, StopRun
from analysis.interpreter.values import Missing, Module
from analysis.library.casting import Casting, Name
from analysis.library.costs import costly
from analysis.library.domain import TraceDomain, World
from analysis.library.knowledge import LibraryClass, Names, Subject
from analysis.library.rehearsal import Horizon
from analysis.modules import Modules
from analysis.snapshot import Snapshot
from analysis.source import NotAnalysed, SourceFile
from analysis.trace.tree import Seq

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.index import Index
    from analysis.library.entries import Entry
    from analysis.library.roles import Role

#: Steps of the imports of one entry.
BUDGET = 60_000
#: Imports of fewer steps than this are made again: that costs no more than to take everything back.
_WORTH = 1_500
#: How many states are kept.
_MOST = 6
#: Kinds of objects that no run changes.
_FIXED = (Snapshot, Modules, Names, Subject, LibraryClass, Missing)


@dataclass(slots=True)
class _WatchedWorld:
    """Answers for ``real`` and remembers what it was asked."""

    real: World
    asked: set[str] = field(default_factory=set)

    def __getattr__(self, name: str) -> Any:
        self.asked.add(name)
        return getattr(self.real, name)


@dataclass(slots=True)
class Prelude:
    """The state after imports. ``asked``: what they asked of the ``world``; ``names``: the symbols that came up.

    ``contents``: what they read; ``skipped``: the functions that they did not follow.
    """

    domain: TraceDomain
    world: World
    asked: frozenset[str]
    names: frozenset[Name]
    contents: Watched
    skipped: frozenset[ast.AST]
    checkpoint: Checkpoint
    loaded: frozenset[str]

    def suits(self, world: World) -> bool:
        """Whether it was made in a world with as many ranks, if that was asked for."""
        return "distributed" not in self.asked or world.distributed == self.world.distributed

    def serves(self, world: World, roles: Mapping[Name, Role]) -> bool:
        """Whether a run in that world may begin from it: nothing that came up is turned round or has a role there."""
        return self.suits(world) and not ("turned" in self.asked and world.turned) and self.names.isdisjoint(roles)

    def resume(self, snapshot: Snapshot, world: World, roles: Mapping[Name, Role], horizon: Horizon) -> TraceDomain:
        """The domain on its machine as they were after the imports, in that world. ``snapshot`` is asked for what they read."""
        self.checkpoint.restore()
        self.contents.ask(snapshot.contents)
        machine = self.domain.machine
        root = Seq([*machine.tree.root.children])  # its own: what a run leaves is read until the next one begins
        machine.snapshot, machine.tree.root, machine.tree.stack, machine.skipped = snapshot, root, [root], self.skipped
        self.domain.world, self.domain.rehearsal.horizon, self.domain.casting.roles = world, horizon, dict(roles)
        self.domain.decided_flags = False  # those of the imports are decided alike in every world
        return self.domain


class Preludes:
    """The preludes of the entries that ran last, for one snapshot."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._made: list[tuple[str, Prelude]] = []
        #: Files that begin with too little to keep, or with what cannot be kept.
        self._without: set[str] = set()
        self._spent = 0

    def spent(self) -> int:
        """The steps of imports since this was asked last."""
        spent, self._spent = self._spent, 0
        return spent

    def begin(self, snapshot: Snapshot, entry: Entry, world: World, roles: Mapping[Name, Role], horizon: Horizon) -> TraceDomain | None:
        """A domain, on its machine, to which imports that ``entry`` begins with have happened; None: the run is to make them all."""
        source = snapshot.source(entry.path)
        if entry.path in self._without or isinstance(source, NotAnalysed):
            return None
        own = [prelude for path, prelude in self._made if path == entry.path]
        if not any(prelude.suits(world) for prelude in own):
            made = self._make(snapshot, source, entry, world, roles)
            if made is None:
                self._without.add(entry.path)
                return None
            own.append(made)
        serving = next((prelude for prelude in own if prelude.serves(world, roles)), None)
        return serving.resume(snapshot, world, roles, horizon) if serving is not None else None

    def _make(self, snapshot: Snapshot, source: SourceFile, entry: Entry, world: World, roles: Mapping[Name, Role]) -> Prelude | None:
        """The state after its imports; that of another entry, if the rest of them is little."""
        base = self._base(entry, world, roles)
        made, steps = _imported(snapshot, self._index.modules, source, entry, world, base)
        self._spent += steps
        made = base if made is None else made
        if made is not None:
            self._made = [*self._made[1 - _MOST :], (entry.path, made)]
        return made

    def _base(self, entry: Entry, world: World, roles: Mapping[Name, Role]) -> Prelude | None:
        """What imported most of what the entry imports, and nothing else, and found it in the same places."""
        needed, modules = _needed(self._index, entry.path), self._index.modules
        fitting = [(path, prelude) for path, prelude in self._made if prelude.loaded <= needed and prelude.serves(world, roles)]
        for path, prelude in sorted(fitting, key=lambda made: -len(made[1].loaded)):
            resolved = dict(modules.resolved(path))
            if all(modules.resolve(dotted, importer, entry.path) == found for (dotted, importer), found in resolved.items()):
                return prelude
        return None


def _needed(index: Index, path: str) -> frozenset[str]:
    """The file and all that importing it may load: what it imports, directly or not, and the packages around that."""
    found, todo = {path}, [path]
    while todo:
        each = todo.pop()
        new = {*index.imports.get(each, ()), *index.modules.packages_above(each)} - found
        found |= new
        todo.extend(new)
    return frozenset(found)


def _imported(snapshot: Snapshot, modules: Modules, source: SourceFile, entry: Entry, world: World, base: Prelude | None) -> tuple[Prelude | None, int]:
    """The state after the imports, and the steps that they took; None if there is little to keep beyond ``base``, or it cannot be kept."""
    skipped: frozenset[ast.AST] = frozenset()
    spent = 0
    for _ in range(2):
        contents = Watched(snapshot.contents)
        watched = _WatchedWorld(World(distributed=world.distributed))
        domain = _begun(snapshot.seen_through(contents), modules, base)
        machine = domain.machine
        machine.entry_path, machine.steps, machine.skipped = entry.path, BUDGET, machine.skipped | skipped
        domain.world = watched  # type: ignore[assignment]  # it answers for one
        try:
            _import(machine, source, entry)
            steps = BUDGET - machine.steps
            made = _kept(snapshot, domain, watched, contents, base) if steps >= _WORTH else None
        except BudgetSpent as end:
            spent += BUDGET
            skipped = costly(machine, end.unfinished)
            if not skipped:
                break
        except (GuestRaise, StopRun, CannotKeepError):
            break
        else:
            return made, spent + steps
    return None, spent


def _kept(snapshot: Snapshot, domain: TraceDomain, watched: _WatchedWorld, contents: Watched, base: Prelude | None) -> Prelude:
    machine = domain.machine
    names = frozenset((symbol.why, symbol.span) for symbol in domain.casting.symbols)
    asked = frozenset(watched.asked) | (base.asked if base is not None else frozenset())
    loaded = frozenset(machine.loaded) & machine.modules.paths
    machine.snapshot = snapshot
    return Prelude(domain, watched.real, asked, names, contents, machine.skipped, Checkpoint(machine, leaves=_FIXED), loaded)


def _begun(snapshot: Snapshot, modules: Modules, base: Prelude | None) -> TraceDomain:
    if base is not None:
        return base.resume(snapshot, World(), {}, Horizon())
    domain = TraceDomain(World(), Casting({}), Horizon())
    domain.bind(Machine(snapshot, domain, BUDGET, modules=modules, survives_raises=True))
    return domain


def _import(machine: Machine, source: SourceFile, entry: Entry) -> None:
    if entry.qualname:
        machine.load(source.path)
        return
    module = Module("__main__", source, {"__name__": "__main__", "__file__": source.path})
    machine.frame = Frame(module, module.vars)
    machine.execute(list(leading_imports(source)), machine.frame)
    machine.frame = None


def leading_imports(source: SourceFile) -> Iterator[ast.stmt]:
    """The imports that stand before all else at the top of a file."""
    for node in source.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return
