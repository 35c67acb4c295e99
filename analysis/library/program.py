"""The traces of a program: each entry point in each world, run as often as it takes to know roles, windows and flags."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.facts import Definition
from analysis.interpreter.imports import run_top_level
from analysis.interpreter.machine import Machine
from analysis.interpreter.values import BudgetSpent, Class, Function, GuestRaise, Instance, Module, StopRun, Value
from analysis.library.casting import Casting, Name
from analysis.library.domain import TraceDomain, World
from analysis.library.rehearsal import SHORT, Horizon
from analysis.library.roles import Role
from analysis.source import NotAnalysed, SourceFile
from analysis.trace import Trace
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.index import Index
    from analysis.snapshot import Snapshot

#: Steps of one run: at some ten thousand steps a second it answers within seconds.
BUDGET = 60_000
#: Steps of a run that only collects what is done to arguments.
COLLECTING_BUDGET = 20_000
#: Bytes that say a program may run on several ranks.
_DISTRIBUTED = (b"torch.distributed", b"init_process_group", b"accelerate", b"lightning", b"deepspeed", b"LOCAL_RANK", b"torchrun", b"DistributedDataParallel", b"horovod", b"fabric")


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a run begins: a file run as a script, or one of its functions (``qualname``)."""

    path: str
    qualname: str = ""


def trace_program(snapshot: Snapshot, index: Index, entries: Collection[str]) -> Iterator[Trace]:
    """The traces of the files ``entries``: each run as a script, then each function that trains and was reached by none."""
    reached: set[tuple[str, int]] = set()
    ordered = sorted(entries, key=lambda path: (not index.facts[path].script, path))
    for path in ordered:
        source = snapshot.source(path)
        if not isinstance(source, NotAnalysed) and index.facts[path].script:
            yield from _traces(snapshot, index, Entry(path), reached)
    for definition, path in _uncalled_first(index, ordered):
        if (path, definition.start) not in reached:
            yield from _traces(snapshot, index, Entry(path, definition.qualname), reached)


def _uncalled_first(index: Index, paths: list[str]) -> list[tuple[Definition, str]]:
    """Functions that train: those that nobody calls by name first, then those that train inside classes or helpers."""
    wanted = [(found, path) for path in paths for found in index.facts[path].definitions if found.qualname and not found.is_class and (found.trains or found.evaluates)]
    called: set[str] = set()
    for path in paths:
        for found in index.facts[path].definitions:
            own = found.qualname.rpartition(".")[2]
            called.update(name for name in found.calls if name != own)
    return sorted(wanted, key=lambda item: (item[0].qualname.rpartition(".")[2] in called, item[1], item[0].start))


def _traces(snapshot: Snapshot, index: Index, entry: Entry, reached: set[tuple[str, int]]) -> Iterator[Trace]:
    roles: dict[Name, Role] = {}
    collected = run(snapshot, index, entry, World(collecting=True), roles, SHORT, COLLECTING_BUDGET)
    if collected is None:
        return
    roles = collected.domain.casting.solve()
    horizon = Horizon.for_window(collected.domain.rehearsal.window)
    worlds = [World()] + ([World(distributed=True)] if _may_be_distributed(snapshot, index, entry) else [])
    for world in worlds:
        ended = run(snapshot, index, entry, world, roles, horizon)
        if ended is None:
            continue
        yield ended.trace(snapshot, entry)
        reached.update(ended.reached())
        if ended.domain.decided_flags:
            other = run(snapshot, index, entry, replace(world, flags=False), roles, horizon)
            if other is not None:
                yield other.trace(snapshot, entry)
                reached.update(other.reached())


def _may_be_distributed(snapshot: Snapshot, index: Index, entry: Entry) -> bool:
    return any(any(word in snapshot.contents[path] for word in _DISTRIBUTED) for path in index.reached_from([entry.path]) if path in snapshot.contents)


@dataclass(slots=True)
class Run:
    """One run that has ended."""

    machine: Machine
    domain: TraceDomain
    complete: bool
    result: Value

    def trace(self, snapshot: Snapshot, entry: Entry) -> Trace:
        """What rules read."""
        unresolved = tuple(dict.fromkeys(self.machine.unresolved))
        return Trace(snapshot, self.machine.tree.root, entry.path, entry.qualname, self.domain.world.distributed, self.complete, self.result, unresolved)

    def reached(self) -> Iterator[tuple[str, int]]:
        """The functions that ran, by file and first byte."""
        for module in self.machine.loaded.values():
            for node, start in _functions(module.file):
                if node in self.machine.executed:
                    yield module.file.path, start


@lru_cache(maxsize=512)
def _functions(file: SourceFile) -> tuple[tuple[ast.AST, int], ...]:
    """The functions of a file, with the byte at which each begins."""
    return tuple((node, file.span(node).start) for node in ast.walk(file.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def run(
    snapshot: Snapshot,
    index: Index,
    entry: Entry,
    world: World = World(),  # noqa: B008  frozen
    roles: dict[Name, Role] | None = None,
    horizon: Horizon = Horizon(),  # noqa: B008  frozen
    budget: int = BUDGET,
) -> Run | None:
    """One run; None if the file cannot be read."""
    source = snapshot.source(entry.path)
    if isinstance(source, NotAnalysed):
        return None
    domain = TraceDomain(world, Casting(roles), horizon)
    machine = Machine(snapshot, domain, budget, modules=index.modules)
    machine.entry_path = entry.path
    domain.bind(machine)
    complete, result = True, None
    try:
        if entry.qualname:
            result = _call_entry(machine, domain, source, entry.qualname)
        else:
            run_top_level(machine, source, "__main__")
    except BudgetSpent:
        complete = False
    except (GuestRaise, StopRun):
        complete = True
    return Run(machine, domain, complete, result)


def _call_entry(machine: Machine, domain: TraceDomain, source: SourceFile, qualname: str) -> Value:
    """Load the file and call the function with arguments that nobody passes."""
    module = machine.load(source.path)
    if not isinstance(module, Module):
        return None
    owner: Value = module
    instance: Instance | None = None
    for name in qualname.split("."):
        if isinstance(owner, Class):
            instance = _object_of(machine, domain, owner)
        owner = owner.vars.get(name) if isinstance(owner, Module) else owner.find(name) if isinstance(owner, Class) else None
    span = source.span(source.tree.body[0])
    machine.span = span
    if isinstance(owner, Function):
        receiver = [instance] if instance is not None else []
        return machine.call(owner, [*receiver, *_arguments(domain, owner, skip=len(receiver))], {}, span)
    return None


def _object_of(machine: Machine, domain: TraceDomain, cls: Class) -> Instance | None:
    """An object of ``cls`` made with arguments that nobody passes."""
    span = cls.span
    if span is None:
        return None
    machine.span = span
    init = cls.find("__init__")
    args = _arguments(domain, init, skip=1) if isinstance(init, Function) else []
    try:
        made = machine.construct(cls, args, {}, span)
    except GuestRaise:
        made = machine.instance(cls, span)
    return made if isinstance(made, Instance) else None


def _arguments(domain: TraceDomain, function: Function, skip: int) -> list[Value]:
    """A castable symbol for each parameter without a default, noted with its annotation."""
    arguments = function.node.args
    parameters = [*arguments.posonlyargs, *arguments.args][skip:]
    wanted = len(parameters) - min(len(function.defaults), len(parameters))
    values: list[Value] = []
    for parameter in parameters[:wanted]:
        span = function.module.file.span(parameter)
        if parameter.annotation is not None:
            domain.casting.annotated[(parameter.arg, span)] = ast.unparse(parameter.annotation)
        values.append(domain.casting.symbol(parameter.arg, span, ()))
    return values


def trains(trace: Trace) -> bool:
    """Whether anything in the trace trains."""
    return next(trace.events(Kind.BACKWARD, Kind.STEP), None) is not None
