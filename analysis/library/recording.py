"""Writing events: what surrounds one (grad mode, autocast, no_sync, rank guard), and the context managers that change that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from analysis.interpreter.values import Call, Function, Guarded, HostFunction, Instance, Method, Partial, Stamp, Symbol, Value
from analysis.library.knowledge import LibraryClass, Subject
from analysis.library.rehearsal import Rehearsal
from analysis.source import Span
from analysis.trace.events import Context, Event, Kind

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

_MODES = "modes"
#: Where the machine's state keeps the last context, with what it was made of.
_AROUND = "last context"
#: The stamp of what varies although no loop statement runs: items of a comprehension, of a model's parameters.
SOMEWHERE: Stamp = ((0, 0),)


@dataclass(frozen=True, slots=True)
class Modes:
    """Dynamic state of the run that context managers set; ``forwarding`` is the module whose forward is walked, its call's number ``forward``."""

    grad: bool = True
    inference: bool = False
    autocast: bool = False
    no_sync: bool = False
    no_sync_at: Span | None = None
    joined: bool = False
    forwarding: Instance | None = None
    forward: int = 0
    forward_stamp: Stamp = ()


_DEFAULT = Modes()

#: How a manager changes the modes for the length of its block.
Change = Callable[[Call, Modes], Modes]


def modes(machine: Machine) -> Modes:
    """The modes that hold now."""
    found: Modes = machine.state.get(_MODES, _DEFAULT)
    return found


def set_modes(machine: Machine, new: Modes) -> Modes:
    """Put other modes in force; returns those that held until now."""
    old = modes(machine)
    machine.state[_MODES] = new
    return old


def emit(machine: Machine, kind: Kind, *, subject: Any = None, value: Any = None, detail: Any = None) -> Event:
    """Write an event here and now."""
    held = modes(machine)
    span = machine.span
    if span is None:
        raise ValueError(f"{kind.value} happened outside any code")
    event = Event(kind, span, machine.path, _context(machine, held), subject, value, detail)
    machine.tree.add(event)
    rehearsal = machine.state.get("rehearsal")
    if isinstance(rehearsal, Rehearsal):
        rehearsal.saw(machine, kind)
    return event


def _context(machine: Machine, held: Modes) -> Context:
    """What surrounds an event now: the context of the one before, where nothing has changed since."""
    function = machine.frame.qualname if machine.frame is not None else ""
    around = machine.state.get(_AROUND)
    if around is not None and around[0] is held and around[1] is machine.guards and around[2] is machine.stamp and around[3].function == function:
        return cast("Context", around[3])
    context = Context(
        grad=held.grad,
        inference=held.inference,
        autocast=held.autocast,
        no_sync=held.no_sync,
        no_sync_at=held.no_sync_at if held.no_sync else None,
        joined=held.joined,
        rank_guards=machine.guards,
        stamp=machine.stamp,
        function=function,
    )
    machine.state[_AROUND] = held, machine.guards, machine.stamp, context
    return context


def captured(call: Call, whose: str) -> Value:
    """What ``state_dict()`` of a training object gives, with its event."""
    state = Symbol(f"the state of {whose}", call.span, call.machine.stamp)
    emit(call.machine, Kind.CAPTURE, subject=call.args[0], value=state)
    return state


def restored(call: Call) -> None:
    """``load_state_dict()`` of a training object; the event's detail is the object whose method that happens in, if there is one."""
    frame = call.machine.frame
    first = frame.function.node.args.args[:1] if frame is not None and frame.function is not None else []
    holder = frame.vars.get(first[0].arg) if frame is not None and first else None
    emit(call.machine, Kind.RESTORE, subject=call.args[0], detail=holder if isinstance(holder, Instance) else None)


#: Where a manager that takes effect when it is made keeps the modes before that.
BEFORE = "before it was made"


def manager(subject: Subject, dotted: str, change: Change) -> LibraryClass:
    """Registers a context manager that changes the modes; it works as a decorator too."""
    declared = subject.cls(dotted)

    @declared.method("__init__")
    def init(call: Call) -> Value:
        call.args[0].fields["construction"] = Call(call.machine, call.args[1:], call.kwargs, call.span)

    @declared.method("__enter__", "__aenter__")
    def enter(call: Call) -> Value:
        instance = call.args[0]
        now = modes(call.machine)
        instance.fields.setdefault("entered", []).append(instance.fields.pop(BEFORE, now))
        set_modes(call.machine, change(instance.fields["construction"], now))
        return instance

    @declared.method("__exit__", "__aexit__")
    def leave(call: Call) -> Value:
        entered = call.args[0].fields.get("entered")
        if entered:
            before = entered.pop()
            now = modes(call.machine)
            set_modes(call.machine, replace(before, forwarding=now.forwarding, forward=now.forward, forward_stamp=now.forward_stamp))
        return None

    @declared.method("__call__")
    def decorate(call: Call) -> Value:
        return Guarded(call.args[1], call.args[0])

    return declared


def enabled(call: Call, index: int, name: str) -> bool:
    """A switch among the arguments: what is undecided counts as on."""
    if not call.given(index, name):
        return True
    return call.machine.truth(call.get(index, name), call.span) is not False


def bare_decorator(dotted: str, make: Callable[[Call], Value]) -> HostFunction:
    """A manager that may decorate without parentheses: ``@torch.no_grad`` gives the guarded function at once."""

    def run(call: Call) -> Value:
        instance = make(call)
        if call.args and not isinstance(call.args[0], bool) and isinstance(call.args[0], (Function, Method, Partial, HostFunction)):
            return Guarded(call.args[0], instance)
        return instance

    return HostFunction(dotted, run)
