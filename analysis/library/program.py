"""The traces of a program: each entry point in each world, run as often as it takes to know roles, windows and flags."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from analysis.facts import is_test, may_train
from analysis.library.costs import costly
from analysis.library.domain import World
from analysis.library.entries import Entry, candidates, exchanging, measuring, outermost_modules, stateful_modules
from analysis.library.handlers import handlers
from analysis.library.meters import meters
from analysis.library.prelude import Preludes
from analysis.library.rehearsal import SHORT, Horizon
from analysis.library.running import BUDGET, Ran, Run, run, run_on
from analysis.library.stateful import has_more_to_show, has_options_to_show
from analysis.library.templates import filled_in
from analysis.source import NotAnalysed, Span
from analysis.trace.trace import Trace
from analysis.trace.tree import Seq

if TYPE_CHECKING:
    from analysis.index import Index
    from analysis.library.casting import Name
    from analysis.library.roles import Role
    from analysis.snapshot import Snapshot

#: Steps of all runs of one entry; of one program, and what each of its files adds: a change that touches few is answered soon.
ENTRY_BUDGET, PROGRAM_BUDGET, FILE_BUDGET = 120_000, 250_000, 3_000
#: The most steps for all that a change touches, the nearest first: what very many programs call shows in the first of them.
CHANGE_BUDGET = 400_000
#: Those of them that are kept for what stands in changed files.
RESERVE = 60_000
#: Steps of a run that only collects what is done to arguments.
COLLECTING_BUDGET = 20_000
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


class Tracing:
    """The runs of one program, begun in the files ``entries``: what one of them reached needs no run of its own.

    What stands in the files ``changed``, or reaches them by the fewest imports, comes first: there may be more than is followed.
    Some of the steps are kept for what stands in these files. ``preludes``: states that runs begin from; each trace is to be read
    before the next one is asked for then.
    """

    def __init__(self, snapshot: Snapshot, index: Index, entries: Collection[str], changed: Collection[str] = (), *, preludes: Preludes | None = None) -> None:
        self.snapshot = snapshot
        self._preludes = preludes
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
        running = partial(self._run, ran, seen or self.snapshot, entry)
        collected = running(World(collecting=True), {}, SHORT, COLLECTING_BUDGET)
        if collected is None:
            return
        roles = collected.domain.casting.solve()
        if not roles and collected.is_silent:
            yield self._once(collected, ran, entry, seen or self.snapshot)
            return
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

    def _run(self, ran: Ran, snapshot: Snapshot, entry: Entry, world: World, roles: dict[Name, Role], horizon: Horizon, *limits: Any) -> Run | None:
        """A run, its steps counted."""
        domain = self._preludes.begin(snapshot, entry, world, roles, horizon) if self._preludes is not None else None
        ended = run(snapshot, self.index, entry, world, roles, horizon, *limits) if domain is None else run_on(domain, entry, *limits)
        ran.steps += (ended.steps if ended is not None else 0) + (self._preludes.spent() if self._preludes is not None else 0)
        return ended

    def _once(self, collected: Run, ran: Ran, entry: Entry, snapshot: Snapshot) -> Trace:
        """The trace of an entry that shows nothing: the run that collects takes both sides of what is undecided, so no other one would."""
        if may_train(self.snapshot.contents[entry.path]) or not collected.machine.unresolved:
            ran.reached.update(collected.reached())
        return collected.trace(snapshot, entry, World())


def _not_run(snapshot: Snapshot, entry: Entry) -> Trace:
    source = snapshot.source(entry.path)
    place = Span(entry.path, 0, 0) if isinstance(source, NotAnalysed) or not source.tree.body else source.span(source.tree.body[0])
    what = f"{entry.qualname} was" if entry.qualname else "this script was"
    note = (place, f"{what} not run: the program has more entry points than are followed")
    return Trace(snapshot, Seq(), entry.path, entry.qualname, complete=False, unresolved=(note,))
