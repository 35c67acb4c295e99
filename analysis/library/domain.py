"""The trace domain: what the interpreter asks of it, answered by the parts of this package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.interpreter.values import MISSING, Alternatives, Call, Class, External, FewItems, GuestList, Instance, Module, Symbol, Value
from analysis.library import assumed_windows, decisions, failures, opaque, stores
from analysis.library.autograd import Autograd
from analysis.library.bars import shown_by
from analysis.library.casting import Casting, Name
from analysis.library.configured_files import configured
from analysis.library.data_tables import dropped_table
from analysis.library.guest_source import REEXPORTED, source_of
from analysis.library.knowledge import Library
from analysis.library.ownership import Ownership, is_module
from analysis.library.parts import ModelPart
from analysis.library.recording import SOMEWHERE, emit
from analysis.library.rehearsal import FEW, Horizon, Rehearsal
from analysis.library.tensor import Parameter, Tensor
from analysis.source import SourceFile, Span
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.interpreter.domain import LoopPlan
    from analysis.interpreter.machine import Machine


@dataclass(frozen=True, slots=True)
class World:
    """One way in which a program can run: on several ranks or alone, its undecided flags all on or all off.

    ``collecting``: a short run that only finds out what is done to arguments that nobody passes. ``turned``: conditions that are answered the
    other way, since their first answer ended the program. ``batches``: the entry trains on one batch, whoever calls it does so once per batch, and these
    of its arguments are other ones each time.
    """

    distributed: bool = False
    flags: bool = True
    collecting: bool = False
    turned: frozenset[Span] = frozenset()
    batches: frozenset[Name] | None = None


#: Built-in functions that mean more to a trace than to Python.
_BUILTINS = ("print", "getattr")


class TraceDomain:
    """The domain of one run."""

    watches_stores = True
    tracks_places = False

    def __init__(self, world: World, casting: Casting, horizon: Horizon) -> None:
        self.world = world
        self.casting = casting
        self.library = Library()
        self.rehearsal = Rehearsal(horizon)
        #: Whether an undecided flag was met, so that the other world differs.
        self.decided_flags = False
        #: Conditions that were turned round because the program would have ended, with what they are taken for from then on.
        self.avoided: dict[int, tuple[Value, bool]] = {}
        #: Names that each symbol was compared with, in the order in which they came up.
        self.choices: dict[int, dict[str, int]] = {}
        #: Whether the run has asked if there are several ranks, so that the other world differs.
        self.asked_for_ranks = False
        #: Whether the run has read the time: what depends on it differs between ranks.
        self.reads_clock = False
        #: Handlers that raised: a gap of ours, shown in tests.
        self.failed: list[tuple[str, Exception]] = []
        self.stored_graphs = 0
        self._parts: dict[tuple[int, str], tuple[Instance | Class, Value]] = {}

    def bind(self, machine: Machine) -> None:
        """Take up work on ``machine``: once, before anything runs."""
        self.machine = machine
        self.ownership = Ownership(machine)
        self.autograd = Autograd(machine, self.library, self.ownership)
        self.casting.bind(machine)
        machine.builtins = {**machine.builtins, **{name: self.library.lookup(f"builtins.{name}") for name in _BUILTINS}}
        machine.state.update({"distributed": self.is_distributed, "rehearsal": self.rehearsal})

    def is_distributed(self) -> bool:
        """Whether the program runs on several ranks: to be asked only where the answer decides something."""
        self.asked_for_ranks = True
        return self.world.distributed

    def lookup(self, dotted: str) -> Value:
        """What a library's name stands for, or ``MISSING``."""
        if dotted in REEXPORTED:
            module = self.machine.import_module(REEXPORTED[dotted], "")
            return module.vars.get(dotted.rpartition(".")[2], MISSING) if isinstance(module, Module) else MISSING
        return self.library.lookup(dotted)

    def guest_source(self, dotted: str) -> SourceFile | None:
        """Source of a library's module that is interpreted like the repository's own."""
        return source_of(dotted)

    def decide(self, machine: Machine, condition: Value, span: Span) -> bool | None:
        """Flags that were fixed before any loop are decided once per world; what depends on data or rank runs both ways."""
        of_window = assumed_windows.answer(machine.snapshot, condition, span)
        return decisions.decide(self, condition, span) if of_window is None else of_window

    def plan_loop(self, machine: Machine, span: Span, length: int | None) -> LoopPlan:
        """A loop begins."""
        return self.rehearsal.plan(machine, span, length)

    def trainings(self) -> int:
        """Backwards and steps so far."""
        return self.rehearsal.trainings

    def modulo(self, machine: Machine, left: Value, right: Value, span: Span) -> Value:
        """A counter's remainder."""
        return self.rehearsal.modulo(machine, left, right, span)

    def threshold(self, machine: Machine, left: Value, right: Value, span: Span, *, by_size: bool) -> tuple[Value, Value]:
        """A counter is compared with a number that no rehearsal reaches."""
        return self.rehearsal.threshold(machine, left, right, span, by_size=by_size)

    def unknown_items(self, machine: Machine, value: Value, span: Span) -> Iterator[Value]:
        """Items that the source does not tell: as many as a loader gives."""
        if isinstance(value, Alternatives) and (shown := shown_by(value)) is not value:
            yield from machine.iterate(shown, span)
            return
        if isinstance(value, Symbol):
            value.uses.add("iterate")
        if isinstance(value, ModelPart):
            yield from (value.part(f"[{index}]") for index in range(FEW))
            return
        for _ in range(self.rehearsal.horizon.rounds):
            item = self.casting.symbol(f"an item of {value!r}", span, machine.stamp or SOMEWHERE, varying=bool(getattr(value, "rank_varying", False)))
            if isinstance(item, Symbol):
                item.source = value
            yield item

    def brought(self, machine: Machine, value: Value, span: Span) -> list[Value]:
        """Nothing: what is not told plays no role."""
        return []

    def unknown(self, machine: Machine, why: str, span: Span) -> Value:
        """Something that the source does not tell: it may turn out to play a role."""
        return self.casting.symbol(why, span, machine.stamp)

    def setting(self, machine: Machine, key: Value, value: Value, span: Span) -> Value:
        """What a configuration file sets: names and numbers as they stand there; a switch is on in one world and off in the other."""
        return configured(self, key, value, span)

    def unknown_attribute(self, machine: Machine, value: Value, name: str, span: Span) -> Value:
        """An attribute that the source does not tell."""
        match value:
            case Symbol():
                value.uses.add(f".{name}")
                return value.part(f".{name}")
            case External(dotted=dotted):
                return External(f"{dotted}.{name}")
            case Instance() | Class():
                return self._part_of(value, name, span)
        return self.casting.symbol(f"{value!r:.40}.{name}", span, machine.stamp)

    def _part_of(self, value: Instance | Class, name: str, span: Span) -> Value:
        known = self._parts.get((id(value), name))
        if known is None:
            part: Value
            if isinstance(value, Instance) and is_module(value) and value.cls.find("is_unknown") is True:
                part = ModelPart(value, name, span)
            else:
                part = self.casting.symbol(f"{value!r}.{name}" if isinstance(value, Instance) else f"{value.name}.{name}", span, ())
            known = self._parts[(id(value), name)] = (value, part)
        return known[1]

    def call_unknown(self, machine: Machine, callee: Value, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
        """A call that cannot be followed."""
        before, machine.span = machine.span, span
        try:
            return opaque.call(self, callee, Call(machine, args, kwargs, span))
        finally:
            machine.span = before

    def before_call(self, machine: Machine, span: Span) -> None:
        """Host code is about to run at ``span``: what it makes is made there."""
        machine.span = span

    def stored(self, machine: Machine, holder: Value, key: Value, value: Value, span: Span) -> Value:
        """A value is about to be written somewhere."""
        return stores.stored(self, holder, key, value, span)

    def discarded(self, machine: Machine, value: Value, span: Span) -> None:
        """A statement made a tensor, or a table of data, and dropped it."""
        if isinstance(value, Tensor) and value.made is not None and value.made.span == span and not isinstance(value, Parameter):
            machine.span = span
            emit(machine, Kind.DISCARD, value=value)
        elif (dropped := dropped_table(value)) is not None:
            machine.span = span
            emit(machine, Kind.DISCARD, subject=dropped[0], detail=dropped[1])

    def collected(self, machine: Machine, made: Value, span: Span) -> Value:
        """A few items stand for all."""
        if not isinstance(made, GuestList):
            return made
        few = FewItems(made)
        few.span, few.stamp = span, machine.stamp
        return few

    def host_failed(self, machine: Machine, callee: Value, error: Exception, span: Span) -> Value:
        """Host code refused its operands."""
        return failures.value_after(self, callee, error, span)


def domain_of(call: Call) -> TraceDomain:
    """The trace domain of a call. Raises TypeError if the machine runs with another one."""
    domain = call.machine.domain
    if not isinstance(domain, TraceDomain):
        raise TypeError("this handler belongs to the trace domain")
    return domain
