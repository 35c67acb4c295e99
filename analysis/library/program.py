"""The traces of a program: each entry point in each world, run as often as it takes to know roles, windows and flags."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.imports import run_top_level
from analysis.interpreter.machine import Machine
from analysis.interpreter.signals import BudgetSpent, GuestRaise, StopRun
from analysis.interpreter.values import Value
from analysis.library.casting import Casting, Name
from analysis.library.costs import costly
from analysis.library.domain import TraceDomain, World
from analysis.library.driving import call_entry
from analysis.library.entries import Entry, candidates, stateful_modules
from analysis.library.rehearsal import SHORT, Horizon
from analysis.library.roles import Role
from analysis.library.stateful import has_more_to_show, has_options_for_ranks
from analysis.source import NotAnalysed, SourceFile, Span
from analysis.trace.trace import Trace
from analysis.trace.tree import Seq

if TYPE_CHECKING:
    from analysis.index import Index
    from analysis.snapshot import Snapshot

#: Steps of one run: at some tens of thousands a second it ends within two or three.
BUDGET = 60_000
#: Steps of all runs of one entry; of one program, and what each of its files adds: a change that touches few is answered soon.
ENTRY_BUDGET, PROGRAM_BUDGET, FILE_BUDGET = 120_000, 250_000, 3_000
#: Those of them that are kept for what stands in changed files.
RESERVE = 60_000
#: Steps of a run that only collects what is done to arguments.
COLLECTING_BUDGET = 20_000
#: Bytes that say a program may run on several ranks.
_DISTRIBUTED = (
    b"torch.distributed", b"init_process_group", b"accelerate", b"lightning", b"deepspeed", b"LOCAL_RANK", b"torchrun", b"DistributedDataParallel", b"fabric",
)  # fmt: skip


def trace_program(snapshot: Snapshot, index: Index, entries: Collection[str], changed: Collection[str] = ()) -> Iterator[Trace]:
    """The traces of the files ``entries``: each run as a script, then what trains and was reached by none.

    What stands in the files ``changed``, or reaches them by the fewest imports, comes first: there may be more than is followed.
    """
    far = index.distances(changed)
    paths = sorted((path for path in entries if path in index.facts and not _is_test(path)), key=lambda path: (far.get(path, len(far)), path))
    tracing = Tracing(snapshot, index, steps=PROGRAM_BUDGET + FILE_BUDGET * len(paths), changed=frozenset(changed))
    for path in paths:
        if index.facts[path].script:
            yield from tracing.traces(Entry(path))
    for entry, definition in candidates(index, paths):
        if (entry.path, definition.start) not in tracing.reached:
            yield from tracing.traces(entry)
    for entry, definition in stateful_modules(index, paths):
        known = (entry.path, definition.start) in tracing.reached
        if has_options_for_ranks(snapshot, entry) if known and entry.path in changed else not known and has_more_to_show(snapshot, entry):
            yield from tracing.traces(entry)


def _is_test(path: str) -> bool:
    """Tests train toys: what is wrong in one is not wrong in training."""
    folders, _, name = path.rpartition("/")
    return name.startswith(("test_", "conftest")) or name.endswith("_test.py") or not {"tests", "test"}.isdisjoint(folders.split("/"))


@dataclass(slots=True)
class Tracing:
    """The runs of one program: functions that were ``reached`` (file and first byte) need no run of their own.

    Some of the ``steps`` are kept for what stands in the files ``changed``.
    """

    snapshot: Snapshot
    index: Index
    reached: set[tuple[str, int]] = field(default_factory=set)
    steps: int = PROGRAM_BUDGET
    changed: frozenset[str] = frozenset()

    def traces(self, entry: Entry) -> Iterator[Trace]:
        """The traces of one entry: alone and distributed, with its undecided flags on, then off."""
        kept = RESERVE if self.changed and entry.path not in self.changed else 0
        if self.steps < kept:
            yield self._not_run(entry)
            return
        collected = self._run(entry, World(collecting=True), {}, SHORT, COLLECTING_BUDGET)
        if collected is None:
            return
        roles = collected.domain.casting.solve()
        horizon = Horizon.for_window(collected.domain.rehearsal.window)
        worlds = [World(), *([World(distributed=True)] if _may_be_distributed(self.snapshot, self.index, entry) else [])]
        most = min(ENTRY_BUDGET, max(self.steps - kept, COLLECTING_BUDGET))
        todo, left, skipped = [*worlds], most, frozenset[ast.AST]()
        while todo:
            world = todo.pop(0)
            ended = self._run(entry, world, roles, horizon, min(BUDGET, left), skipped) if left > 0 else None
            if ended is None:
                continue
            left -= ended.steps
            if ended.came_to_nothing and not skipped and (skipped := costly(ended.machine)):
                again = self._run(entry, World(collecting=True), {}, SHORT, COLLECTING_BUDGET, skipped)
                roles = again.domain.casting.solve() if again is not None else roles
                left = most
                todo.insert(0, world)
                continue
            wider = Horizon.for_window(ended.domain.rehearsal.window)
            if wider.rounds > horizon.rounds and left > 2 * ended.steps:  # a window that the collecting run did not come to
                horizon = wider
                todo.insert(0, world)
                continue
            self.reached.update(ended.reached())
            yield ended.trace(self.snapshot, entry)
            if ended.domain.decided_flags and world.flags and not world.distributed:
                todo.append(replace(world, flags=False))

    def _run(self, entry: Entry, world: World, roles: dict[Name, Role], horizon: Horizon, budget: int, skipped: frozenset[ast.AST] = frozenset()) -> Run | None:
        ended = run(self.snapshot, self.index, entry, world, roles, horizon, budget, skipped)
        self.steps -= ended.steps if ended is not None else 0
        return ended

    def _not_run(self, entry: Entry) -> Trace:
        source = self.snapshot.source(entry.path)
        place = Span(entry.path, 0, 0) if isinstance(source, NotAnalysed) or not source.tree.body else source.span(source.tree.body[0])
        what = f"{entry.qualname} was" if entry.qualname else "this script was"
        note = (place, f"{what} not run: the program has more entry points than are followed")
        return Trace(self.snapshot, Seq(), entry.path, entry.qualname, complete=False, unresolved=(note,))


def _may_be_distributed(snapshot: Snapshot, index: Index, entry: Entry) -> bool:
    return any(any(word in snapshot.contents[path] for word in _DISTRIBUTED) for path in index.reached_from([entry.path]) if path in snapshot.contents)


@dataclass(slots=True)
class Run:
    """One run that has ended."""

    machine: Machine
    domain: TraceDomain
    complete: bool
    result: Value
    steps: int

    def trace(self, snapshot: Snapshot, entry: Entry) -> Trace:
        """What rules read."""
        unresolved = tuple(dict.fromkeys(self.machine.unresolved))
        world = self.domain.world
        return Trace(snapshot, self.machine.tree.root, entry.path, entry.qualname, world.distributed, self.complete, self.result, unresolved, world.flags)

    @property
    def came_to_nothing(self) -> bool:
        """Whether its steps were spent before anything trained."""
        return self.machine.steps < 0 and not self.domain.rehearsal.trained

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


def _last_place(machine: Machine, source: SourceFile) -> Span:
    return machine.span if machine.span.path or not source.tree.body else source.span(source.tree.body[0])


def run(
    snapshot: Snapshot,
    index: Index,
    entry: Entry,
    world: World = World(),  # noqa: B008  frozen
    roles: dict[Name, Role] | None = None,
    horizon: Horizon = Horizon(),  # noqa: B008  frozen
    budget: int = BUDGET,
    skipped: frozenset[ast.AST] = frozenset(),
) -> Run | None:
    """One run, which does not follow the functions ``skipped``; None if the file cannot be read."""
    source = snapshot.source(entry.path)
    if isinstance(source, NotAnalysed):
        return None
    domain = TraceDomain(world, Casting(roles), horizon)
    machine = Machine(snapshot, domain, budget, modules=index.modules, survives_raises=True)
    machine.entry_path, machine.skipped = entry.path, skipped
    domain.bind(machine)
    complete, result = True, None
    try:
        if entry.qualname:
            result = call_entry(domain, source, entry.qualname)
        else:
            run_top_level(machine, source, "__main__")
    except BudgetSpent:
        complete = False
        machine.note(_last_place(machine, source), "the run takes more steps than are followed: what comes after this was not read")
    except (GuestRaise, StopRun):
        complete = True
    except Exception as error:  # noqa: BLE001  a gap of ours ends this run and no other; the reader is told
        complete = False
        machine.note(_last_place(machine, source), f"the analysis failed here ({type(error).__name__}): what comes after this was not read")
    return Run(machine, domain, complete, result, budget - max(machine.steps, 0))
