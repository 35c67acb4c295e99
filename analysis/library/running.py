"""One run of one entry in one world, and what is known once it has ended."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from analysis.interpreter.imports import run_top_level
from analysis.interpreter.machine import Machine
from analysis.interpreter.signals import BudgetSpent, GuestRaise, StopRun
from analysis.interpreter.values import Value
from analysis.library.casting import Casting, Name
from analysis.library.decisions import last_asked
from analysis.library.domain import TraceDomain, World
from analysis.library.driving import call_entry
from analysis.library.entries import Entry
from analysis.library.rehearsal import Horizon
from analysis.library.roles import Role
from analysis.source import NotAnalysed, SourceFile, Span
from analysis.trace.events import Kind
from analysis.trace.flat import events_in
from analysis.trace.trace import Trace

if TYPE_CHECKING:
    from analysis.index import Index
    from analysis.snapshot import Snapshot

#: Steps of one run: at some tens of thousands a second it ends within two or three.
BUDGET = 60_000
#: So few steps has the training on one batch that is repeated, as by whoever calls it.
SHORT_STEP = 6_000
#: What happens in programs that train nothing, too.
_OF_NO_MODEL = frozenset({Kind.SEED, Kind.CLEAR})


@dataclass(slots=True)
class Ran:
    """What the runs of one entry come to: the functions that they reached (file and first byte), and their steps."""

    reached: set[tuple[str, int]] = field(default_factory=set)
    steps: int = 0


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
    def is_silent(self) -> bool:
        """Whether it went through to its end, and nothing happened in it that a rule asks for."""
        return self.complete and not self.raised and not any(event.kind not in _OF_NO_MODEL for event in events_in(self.machine.tree.root))

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
    domain = TraceDomain(world, Casting(roles), horizon)
    domain.bind(Machine(snapshot, domain, budget, modules=index.modules, survives_raises=True))
    return run_on(domain, entry, budget, skipped)


def run_on(domain: TraceDomain, entry: Entry, budget: int = BUDGET, skipped: frozenset[ast.AST] = frozenset()) -> Run | None:
    """The same on a machine that may have imported something before."""
    machine = domain.machine
    source = machine.snapshot.source(entry.path)
    if isinstance(source, NotAnalysed):
        return None
    machine.entry_path, machine.steps, machine.skipped = entry.path, budget, machine.skipped | skipped
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
