"""The tape domain: the interpreter runs concretely, torch is the tape, and what is not followed becomes an unknown of the estimate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.certainty import Place
from analysis.interpreter.exceptions import guest_error
from analysis.interpreter.imports import describe
from analysis.interpreter.values import MISSING, Alternatives, External, Instance, Symbol, Value
from analysis.source import SourceFile, Span
from estimator.library import guest_module, lookup
from estimator.script import watching
from estimator.script.loops import Plan
from estimator.script.observed import Observed
from estimator.tape import facade
from estimator.tape.checkpoint import RecomputationDone
from estimator.tape.not_followed import NotFollowed
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from analysis.interpreter.domain import LoopPlan
    from analysis.interpreter.machine import Machine
    from estimator.request import Request
    from estimator.tape.run import Tape

#: Calls of modules that are looked at: criteria and small heads come before or after the model itself.
_WATCHED_CALLS = 64
#: Items of something unknown: enough for two optimizer steps of a loop over it.
_UNKNOWN_ITEMS = 3


class TapeDomain:
    """The domain of one run of one script."""

    watches_stores = False
    tracks_places = True

    def __init__(self, tape: Tape, request: Request) -> None:
        self.tape = tape
        self.request = request
        self.observed = Observed()
        self._lines: dict[Span, Place] = {}

    def bind(self, machine: Machine) -> None:
        """Take up work on ``machine``: guest functions that the tape calls back run there, numbers it cannot tell are symbols."""
        self.machine = machine
        machine.state["domain"] = self
        self.tape.call = self._called_back
        self.tape.number = lambda what: Symbol(what, machine.span, ((0, 0),))
        self.tape.watch = self.watch

    def _called_back(self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Run a guest function for the tape; if the tape stops it halfway, the machine is put back where it was."""
        machine = self.machine
        before = (machine.frame, machine.path, machine.depth, machine.span, machine.try_depth, machine.stamp, list(machine.tree.stack))
        calls = machine.state.get("stack", ())
        try:
            return machine.call(function, list(args), dict(kwargs), machine.span)
        except RecomputationDone:
            machine.frame, machine.path, machine.depth, machine.span, machine.try_depth, machine.stamp, machine.tree.stack = before
            machine.state["stack"] = calls
            raise

    def watch(self, module: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        """A top-level module is called."""
        if self.request.overrides.get("checkpointing") and module.cls.find("gradient_checkpointing_enable") is not MISSING:
            self.machine.call(self.machine.getattr(module, "gradient_checkpointing_enable", self.machine.span), [], {}, self.machine.span)
        if len(self.observed.calls) < _WATCHED_CALLS:
            watching.watch(self, module, args, kwargs)

    def caller_place(self, parameter: str = "") -> Place | None:
        """The repository's line that set ``parameter`` of the library function that runs, or that called it."""
        frame = self.machine.frame
        if frame is not None and parameter:
            span = self.machine.place_of(frame.vars, parameter)
            if span is not None and span.path in self.machine.snapshot.contents:
                return self.place(span)
        return self.tape.place

    def lookup(self, dotted: str) -> Value:
        """What a library's name stands for; some names are other spellings of what guest source defines."""
        if dotted == "sys.argv":
            return [self.machine.entry_path]
        target = facade.REEXPORTS.get(dotted)
        if target is None:
            return lookup(dotted)
        module, _, name = target.rpartition(".")
        return self.machine.getattr(self.machine.import_module(module, self.machine.entry_path), name, self.machine.span)

    def guest_source(self, dotted: str) -> SourceFile | None:
        """Library modules that are interpreted like the repository's own."""
        return guest_module(dotted)

    def decide(self, machine: Machine, condition: Value, span: Span) -> bool | None:
        """An undecided condition is taken not to hold; inside a model that is an unknown of the estimate."""
        if isinstance(condition, Alternatives):
            return True
        if self.tape.depth and not _is_none_test(condition):
            self.observed.unknowns[f"{self.place(span)}: the branch depends on {condition!r}, taken as false"] = None
        return False

    def plan_loop(self, machine: Machine, span: Span, length: int | None) -> LoopPlan:
        """A loop begins."""
        return Plan(self.tape, length)

    def modulo(self, machine: Machine, left: Value, right: Value, span: Span) -> Value:
        """Counters are concrete here."""
        return MISSING

    def unknown_items(self, machine: Machine, value: Value, span: Span) -> Iterator[Value]:
        """Items that the source does not tell."""
        for index in range(_UNKNOWN_ITEMS):
            yield Symbol(f"item {index} of {value!r}", span, machine.stamp)

    def unknown_attribute(self, machine: Machine, value: Value, name: str, span: Span) -> Value:
        """An attribute that the source does not tell."""
        match value:
            case Symbol():
                return value.part(f".{name}")
            case External(dotted=dotted):
                return External(f"{dotted}.{name}")
            case Instance():
                if machine.try_depth or name.startswith("__"):
                    raise guest_error(AttributeError(f"{value.cls.name} has no attribute {name}"), span)
        return Symbol(f"{value!r:.60}.{name}", span, machine.stamp)

    def call_unknown(self, machine: Machine, callee: Value, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
        """A call that cannot be followed; a tensor that went into it is lost."""
        name = callee.dotted if isinstance(callee, External) else repr(callee)
        if any(_holds_device_tensor(value) for value in (*args, *kwargs.values())):
            self.lose(machine, f"{self.place(span)}: what {name} does with its tensors is not known")
        return Symbol(f"{name}(…)", span, machine.stamp)

    def before_call(self, machine: Machine, span: Span) -> None:
        """The tape attributes what comes to this line, if it is one of the repository's own."""
        if span.path in machine.snapshot.contents:
            self.tape.place = self.place(span)

    def stored(self, machine: Machine, holder: Value, key: Value, value: Value, span: Span) -> Value:
        """Nothing is watched here: lifetimes are the host's."""
        return value

    def host_failed(self, machine: Machine, callee: Value, error: Exception, span: Span) -> Value:
        """The tape does not know the operation, its operands are unknown, or the guest made an error."""
        if callee is bool and not self.tape.depth:
            return Symbol("a condition on a tensor's values", span, machine.stamp)  # which way a script goes after a step changes no peak
        name = getattr(callee, "name", None) or getattr(callee, "__name__", None) or (callee if isinstance(callee, str) else type(callee).__name__)
        if isinstance(error, NotFollowed):
            self.lose(machine, f"{self.place(span)}: {error.name} is not followed")
        elif machine.try_depth and isinstance(error, (KeyError, IndexError, AttributeError, ValueError, TypeError, ImportError)):
            raise guest_error(error, span) from None
        else:
            self.lose(machine, f"{self.place(span)}: {name} cannot be computed here ({type(error).__name__}: {error})")
        return Symbol(f"the result of {name}", span, machine.stamp)

    def lose(self, machine: Machine, sentence: str) -> None:
        """Something was not followed: inside a model it takes the estimate with it, outside it is a doubt."""
        (self.observed.lost if self.tape.depth else self.observed.unknowns)[sentence] = None

    def place(self, span: Span) -> Place:
        """The line of ``span``."""
        known = self._lines.get(span)
        if known is None:
            known = self._lines[span] = self._line(span)
        return known

    def _line(self, span: Span) -> Place:
        source = self.machine.snapshot.source(span.path) if span.path in self.machine.snapshot.contents else None
        return Place(span.path, source.line_of(span.start) if isinstance(source, SourceFile) else 1)


def _is_none_test(condition: Value) -> bool:
    return isinstance(condition, Symbol) and bool(condition.test) and condition.test[0] == "is"


def _holds_device_tensor(value: Any, depth: int = 3) -> bool:
    """Whether a value is, or holds, a tensor on the device."""
    if isinstance(value, Tensor):
        return value.device.counted
    if depth and isinstance(value, (list, tuple)):
        return any(_holds_device_tensor(item, depth - 1) for item in value)
    if depth and isinstance(value, dict):
        return any(_holds_device_tensor(item, depth - 1) for item in value.values())
    return False


def failure(error: Any) -> str:
    """The sentence for a guest exception that ended the script."""
    return f"the script stops with {describe(error.value)}"
