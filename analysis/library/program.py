"""The traces of a program: each entry point in each world, run as often as it takes to know roles, windows and flags."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.imports import run_top_level
from analysis.interpreter.machine import Machine
from analysis.interpreter.values import BudgetSpent, GuestRaise, StopRun, Value
from analysis.library.casting import Casting, Name
from analysis.library.domain import TraceDomain, World
from analysis.library.driving import call_entry, keeps_state
from analysis.library.entries import Entry, candidates, stateful_modules
from analysis.library.rehearsal import SHORT, Horizon
from analysis.library.roles import Role
from analysis.source import NotAnalysed, SourceFile
from analysis.trace import Trace

if TYPE_CHECKING:
    from analysis.index import Index
    from analysis.snapshot import Snapshot

#: Steps of one run: at some ten thousand steps a second it answers within seconds.
BUDGET = 60_000
#: Steps of a run that only collects what is done to arguments.
COLLECTING_BUDGET = 20_000
#: Bytes that say a program may run on several ranks.
_DISTRIBUTED = (b"torch.distributed", b"init_process_group", b"accelerate", b"lightning", b"deepspeed", b"LOCAL_RANK", b"torchrun", b"DistributedDataParallel", b"horovod", b"fabric")


def trace_program(snapshot: Snapshot, index: Index, entries: Collection[str]) -> Iterator[Trace]:
    """The traces of the files ``entries``: each run as a script, then what trains and was reached by none."""
    reached: set[tuple[str, int]] = set()
    paths = sorted(path for path in entries if path in index.facts)
    for path in paths:
        if index.facts[path].script:
            yield from _traces(snapshot, index, Entry(path), reached)
    for entry, definition in candidates(index, paths):
        if (entry.path, definition.start) not in reached:
            yield from _traces(snapshot, index, entry, reached)
    for entry, definition in stateful_modules(index, paths):
        if (entry.path, definition.start) not in reached and keeps_state(snapshot, entry):
            yield from _traces(snapshot, index, entry, reached)


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
            result = call_entry(domain, source, entry.qualname)
        else:
            run_top_level(machine, source, "__main__")
    except BudgetSpent:
        complete = False
        last = machine.span if machine.span and machine.span.path else source.span(source.tree.body[0])
        machine.note(last, "the run takes more steps than are followed: what comes after this was not read")
    except (GuestRaise, StopRun):
        complete = True
    return Run(machine, domain, complete, result)
