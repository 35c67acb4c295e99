"""The traces of a program: each entry point in each world, run as often as it takes to know roles, windows and flags."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from analysis.facts import is_test, may_train
from analysis.interpreter.imports import run_top_level
from analysis.interpreter.machine import Machine
from analysis.interpreter.signals import BudgetSpent, GuestRaise, StopRun
from analysis.interpreter.values import Value
from analysis.library.casting import Casting, Name
from analysis.library.costs import costly
from analysis.library.decisions import last_asked
from analysis.library.domain import TraceDomain, World
from analysis.library.driving import call_entry
from analysis.library.entries import Entry, candidates, exchanging, measuring, outermost_modules, stateful_modules
from analysis.library.handlers import handlers
from analysis.library.meters import meters
from analysis.library.rehearsal import SHORT, Horizon
from analysis.library.roles import Role
from analysis.library.stateful import has_more_to_show, has_options_to_show
from analysis.library.templates import filled_in
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
#: The most steps for all that a change touches, the nearest first: what very many programs call shows in the first of them.
CHANGE_BUDGET = 400_000
#: Those of them that are kept for what stands in changed files.
RESERVE = 60_000
#: Steps of a run that only collects what is done to arguments.
COLLECTING_BUDGET = 20_000
#: So few steps has the training on one batch that is repeated, as by whoever calls it.
SHORT_STEP = 6_000
#: More programs than these that only start a training written elsewhere come last: most of them belong to a package whose modules all import each other.
MOST_LAUNCHERS = 6
#: How many flags are turned round where a program ends in an exception before it trains.
MOST_TURNED = 3
#: Bytes that say a program may run on several ranks.
_DISTRIBUTED = (
    b"torch.distributed", b"init_process_group", b"accelerate", b"accelerator", b"lightning", b"deepspeed", b"LOCAL_RANK", b"torchrun",
    b"DistributedDataParallel", b"fabric",
)  # fmt: skip


def trace_program(snapshot: Snapshot, index: Index, entries: Collection[str], changed: Collection[str] = ()) -> Iterator[Trace]:
    """The traces of the files ``entries``: each run as a script, then what trains and was reached by none."""
    tracing = Tracing(snapshot, index, entries, changed)
    for entry in tracing.due():
        ran = Ran()
        yield from tracing.traces(entry, ran)
        tracing.add(ran, entry)


@dataclass(slots=True)
class Ran:
    """What the runs of one entry come to: the functions that they reached (file and first byte), and their steps."""

    reached: set[tuple[str, int]] = field(default_factory=set)
    steps: int = 0


class Tracing:
    """The runs of one program, begun in the files ``entries``: what one of them reached needs no run of its own.

    What stands in the files ``changed``, or reaches them by the fewest imports, comes first: there may be more than is followed.
    Some of the steps are kept for what stands in these files.
    """

    def __init__(self, snapshot: Snapshot, index: Index, entries: Collection[str], changed: Collection[str] = ()) -> None:
        self.snapshot = snapshot
        self.index = index
        far = index.distances(changed)
        paths = (path for path in entries if path in index.facts and not is_test(path))
        self._paths = sorted(paths, key=lambda path: (far.get(path, len(far)), path))
        self._changed = frozenset(changed)
        whole = PROGRAM_BUDGET + FILE_BUDGET * len(self._paths)
        self._left = min(whole, CHANGE_BUDGET) if changed else whole
        self._reached: set[tuple[str, int]] = set()
        self._distributed: dict[str, bool] = {}

    def due(self) -> Iterator[Entry]:
        """The entries to run; each is to be asked for once what the one before reached was added."""
        scripts = [path for path in self._paths if self.index.facts[path].script]
        launchers = [path for path in scripts if not may_train(self.snapshot.contents[path]) and path not in self._changed]
        many = len(launchers) > (MOST_LAUNCHERS if not self._changed else 1)  # of a change there are fewer steps to spend
        late = frozenset(launchers if many else ())
        yield from (Entry(path) for path in scripts if path not in late)
        changed = [path for path in self._paths if path in self._changed]
        trained = candidates(self.index, self._paths)
        filled = filled_in(self.snapshot, self.index, self._paths, self._changed, trained)
        early = chain(handlers(self.index, changed), filled, (each for each in trained if each[0].path not in late))
        for entry, definition in chain(early, meters(self.index, self._paths), exchanging(self.index, changed)):
            if (entry.path, definition.start) not in self._reached:
                yield entry
        for entry, definition in stateful_modules(self.index, self._paths):
            known = (entry.path, definition.start) in self._reached
            again = known and entry.path in self._changed
            if has_options_to_show(self.snapshot, entry) if again else not known and has_more_to_show(self.snapshot, entry):
                yield entry
        for entry, definition in chain(outermost_modules(self.index, changed), measuring(self.index, self._paths, changed)):
            if (entry.path, definition.start) not in self._reached:
                yield entry
        yield from (Entry(path) for path in scripts if path in late)
        yield from (entry for entry, each in trained if entry.path in late and (entry.path, each.start) not in self._reached)

    def add(self, ran: Ran, entry: Entry) -> None:
        """Count what the runs of ``entry`` reached and took; what they took too much is not taken from the steps that are kept."""
        self._reached |= ran.reached
        kept = RESERVE if self._changed and entry.path not in self._changed else 0
        self._left = min(self._left, max(self._left - ran.steps, kept - 1))

    def steps_for(self, entry: Entry) -> int:
        """The most steps that the runs of ``entry`` may take now; 0: it is not run any more."""
        left = self._left - (RESERVE if self._changed and entry.path not in self._changed else 0)
        return 0 if left < 0 else min(ENTRY_BUDGET, max(left, COLLECTING_BUDGET))

    def may_be_distributed(self, entry: Entry) -> bool:
        """Whether the program of ``entry`` names anything that runs it on several ranks."""
        return any(self._names_ranks(path) for path in self.index.reached_from([entry.path]))

    def _names_ranks(self, path: str) -> bool:
        if path not in self._distributed:
            self._distributed[path] = any(word in self.snapshot.contents.get(path, b"") for word in _DISTRIBUTED)
        return self._distributed[path]

    def traces(self, entry: Entry, ran: Ran, seen: Snapshot | None = None) -> Iterator[Trace]:
        """The traces of one entry: alone and distributed, with its undecided flags on, then off. ``seen``: the snapshot as the runs are to see it."""
        most = self.steps_for(entry)
        if not most:
            yield _not_run(seen or self.snapshot, entry)
            return
        running = partial(_run, ran, seen or self.snapshot, self.index, entry)
        collected = running(World(collecting=True), {}, SHORT, COLLECTING_BUDGET)
        if collected is None:
            return
        roles = collected.domain.casting.solve()
        horizon = (Horizon.for_window if collected.complete else Horizon.in_doubt)(collected.domain.rehearsal.window)
        alone = World(batches=collected.batches() if entry.qualname else None)
        several = [replace(alone, distributed=True)] if self.may_be_distributed(entry) else []
        todo = several if entry.together else [alone, *several]
        left, skipped = most, frozenset[ast.AST]()
        before: Run | None = None
        while todo:
            world = todo.pop(0)
            ended = before.again(world, ran, min(BUDGET, left)) if before is not None else None
            if ended is None and left > 0:
                ended = running(world, roles, horizon, min(BUDGET, left), skipped)
            if ended is None:
                continue
            left -= ended.steps
            if ended.came_to_nothing and not skipped and (skipped := costly(ended.machine, ended.unfinished)):
                again = running(World(collecting=True), {}, SHORT, COLLECTING_BUDGET, skipped)
                roles = again.domain.casting.solve() if again is not None else roles
                left = most
                todo.insert(0, world)
                continue
            if (turned := ended.to_turn()) is not None and len(world.turned) < MOST_TURNED:
                todo.insert(0, replace(world, turned=world.turned | {turned}))
                continue
            wider = Horizon.for_window(ended.domain.rehearsal.window)
            if wider.rounds > horizon.rounds and left > 2 * ended.steps:  # a window that the collecting run did not come to
                horizon = wider
                todo.insert(0, world)
                continue
            if may_train(self.snapshot.contents[entry.path]) or not ended.machine.unresolved:  # what starts a training elsewhere may lack what that needs
                ran.reached.update(place for place in ended.reached() if world.flags or place[0] not in self._changed)
            yield ended.trace(seen or self.snapshot, entry, world)
            before = ended if world == alone else None
            if ended.domain.decided_flags and world.flags and not world.distributed:
                todo.append(replace(alone, flags=False))


def _not_run(snapshot: Snapshot, entry: Entry) -> Trace:
    source = snapshot.source(entry.path)
    place = Span(entry.path, 0, 0) if isinstance(source, NotAnalysed) or not source.tree.body else source.span(source.tree.body[0])
    what = f"{entry.qualname} was" if entry.qualname else "this script was"
    note = (place, f"{what} not run: the program has more entry points than are followed")
    return Trace(snapshot, Seq(), entry.path, entry.qualname, complete=False, unresolved=(note,))


@dataclass(slots=True)
class Run:
    """One run that has ended."""

    machine: Machine
    domain: TraceDomain
    complete: bool
    result: Value
    steps: int
    raised: bool = False  # an exception of the program ended it
    unfinished: tuple[tuple[ast.AST, int], ...] = ()  # the functions that ran when its steps were spent, the innermost first

    def again(self, world: World, ran: Ran, budget: int) -> Run | None:
        """The run itself, with its steps counted once more, if the program would do the same in ``world``: nothing has asked whether it has several ranks."""
        if world != replace(self.domain.world, distributed=True) or self.domain.asked_for_ranks or self.steps > budget:
            return None
        ran.steps += self.steps
        return self

    def trace(self, snapshot: Snapshot, entry: Entry, world: World | None = None) -> Trace:
        """What rules read; ``world``: the one that it stands for, where that is not its own."""
        unresolved = tuple(dict.fromkeys(self.machine.unresolved))
        world = world or self.domain.world
        return Trace(snapshot, self.machine.tree.root, entry.path, entry.qualname, world.distributed, self.complete, self.result, unresolved, world.flags)

    def batches(self) -> frozenset[Name] | None:
        """If it trained on one batch, in few steps and in no loop: the arguments that may be batches."""
        return self.domain.casting.given_anew() if self.complete and self.steps < SHORT_STEP and self.domain.rehearsal.in_loops == {False} else None

    @property
    def came_to_nothing(self) -> bool:
        """Whether its steps were spent before anything trained."""
        return self.machine.steps < 0 and not self.domain.rehearsal.trained

    def to_turn(self) -> Span | None:
        """The condition that was asked for last, if an exception ended the run before anything trained: on its other side the program may go on."""
        return last_asked(self.domain) if self.raised and not self.domain.rehearsal.trained else None

    def reached(self) -> Iterator[tuple[str, int]]:
        """The functions that ran, by file and first byte."""
        for node, file in self.machine.executed.items():
            if not isinstance(node, ast.Lambda):
                yield file.path, file.span(node).start


def _last_place(machine: Machine, source: SourceFile) -> Span:
    return machine.span if machine.span.path or not source.tree.body else source.span(source.tree.body[0])


def _run(ran: Ran, snapshot: Snapshot, index: Index, entry: Entry, *settings: Any) -> Run | None:
    """``run``, its steps counted."""
    ended = run(snapshot, index, entry, *settings)
    ran.steps += ended.steps if ended is not None else 0
    return ended


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
    complete, result, raised = True, None, False
    unfinished: tuple[tuple[ast.AST, int], ...] = ()
    try:
        if entry.qualname:
            result = call_entry(domain, source, entry.qualname)
        else:
            run_top_level(machine, source, "__main__")
    except BudgetSpent as end:
        complete, unfinished = False, tuple(end.unfinished)
        machine.note(_last_place(machine, source), "the run takes more steps than are followed: what comes after this was not read")
    except (GuestRaise, StopRun) as end:
        raised = isinstance(end, GuestRaise)
    except Exception as error:  # noqa: BLE001  a gap of ours ends this run and no other; the reader is told
        complete = False
        machine.note(_last_place(machine, source), f"the analysis failed here ({type(error).__name__}): what comes after this was not read")
    return Run(machine, domain, complete, result, budget - max(machine.steps, 0), raised, unfinished)
