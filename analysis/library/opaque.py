"""Calls that cannot be followed: what they may have changed, and what their result carries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.interpreter.values import Alternatives, Call, Class, External, Function, HostFunction, Instance, Method, Module, Partial, Symbol, Value
from analysis.library.casting import Castable, batches_of
from analysis.library.decisions import FILE_TESTS
from analysis.library.parts import WITHOUT_GRAD, ModelPart, call_part
from analysis.library.recording import emit, modes
from analysis.library.required import HANDED_ON
from analysis.library.roles import FREEZES
from analysis.library.tensor import Tensor, tensors_in
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain

#: Objects whose state decides what a training step does: an unknown call may have changed those it can reach.
_TRAINING = ("torch.nn.Module", "torch.optim.Optimizer", "torch.amp.GradScaler", "torch.optim.lr_scheduler.LRScheduler")
_DEPTH = 4
#: Kinds of values that hold no others, told at once.
_HOLDING_NOTHING = frozenset({int, float, str, bool, bytes, type(None), Symbol, Castable, External, Class, HostFunction, Tensor, Module})
#: The option that marks what such a call made of tensors: it is taken for one, and may be any object.
UNFOLLOWED = "unfollowed"
#: What a model is made of is the same on every rank, whatever its parameters hold.
_STRUCTURE = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers", "named_buffers"})
#: Methods by which data go to a device.
_MOVES = frozenset({"to", "cuda"})
#: How the names of a library's functions begin that only ask.
_ASKS = ("is_", "has_")
#: Methods of a scaler that are given an optimizer.
_STEPS_OTHERS = frozenset({"step", "unscale_"})


def call(domain: TraceDomain, callee: Value, call: Call) -> Value:
    """The result of an unknown call: made of the tensors that went in, else a symbol."""
    name = name_of(callee)
    if isinstance(callee, ModelPart):
        return call_part(domain, callee, call)
    if isinstance(callee, Symbol):
        callee.uses.add("call")
        if len(call.args) <= 1:
            callee.uses.add("applied")
        domain.casting.feeds(callee, call.args, call.kwargs)
        if name in _MOVES and isinstance(callee, Castable) and (source := batches_of(callee.whole)) is not None:
            source.uses.add("moved")
        if name in _STEPS_OTHERS and len(call.args) == 1 and isinstance(call.args[0], Symbol):
            call.args[0].uses.add("stepped")
        if name == "requires_grad_" and False in call.args:
            callee.uses.add(FREEZES)
        if name == "backward" and not call.args:
            loss = domain.autograd.made("unknown", ())
            loss.attached = True
            emit(call.machine, Kind.BACKWARD, value=loss, detail=dict(call.kwargs))
            return None
        if name == "zero_grad":
            emit(call.machine, Kind.ZERO_GRAD, subject=callee)  # of something that is not known: any gradients may be meant
            return None
    if "seed" in name.lower():
        emit(call.machine, Kind.SEED, value=call.args[0] if call.args else None)
    touched = tuple(reached([*call.args, *call.kwargs.values(), callee]))
    if touched and not (isinstance(callee, External) and name.startswith(_ASKS)):
        emit(call.machine, Kind.OPAQUE, subject=touched, detail=name)
    given = (*call.args, *call.kwargs.values())
    if tensors := list(tensors_in(given)):
        without = {WITHOUT_GRAD: True} if not modes(domain.machine).grad and any(each.attached for each in tensors) else {}
        made = domain.autograd.made(name, given, {UNFOLLOWED: True, **without, **({"callee": callee} if isinstance(callee, Symbol) else {})})
        made.rank_varying = made.rank_varying and not _is_collective(name)
        return made
    if _is_collective(name) or name in _STRUCTURE:
        return domain.casting.symbol(f"{name}(…)", call.span, call.machine.stamp)
    if name in FILE_TESTS and any(isinstance(each, Symbol) and each.why.endswith(HANDED_ON) for each in call.args):
        return domain.casting.symbol("the file that an option names", call.span, ())
    return domain.casting.result(call, f"{name}(…)", callee)


def _is_collective(name: str) -> bool:
    """Whether ranks come out of the call alike, if its name is right."""
    return any(word in name.lower() for word in ("reduce", "gather", "broadcast", "bcast", "sync"))


def name_of(callee: Value) -> str:
    """The last part of what is called."""
    match callee:
        case External(dotted=dotted):
            return dotted.rpartition(".")[2]
        case Symbol(why=why):
            return why.rpartition(".")[2]
        case Function(name=name) | Class(name=name):
            return name
        case Method(function=function):
            return name_of(function)
    return "call"


def reached(values: list[Value]) -> Iterator[Instance]:
    """The training objects that ``values`` are or hold, each once."""
    seen: set[int] = set()
    stack = [(value, _DEPTH) for value in reversed(values)]
    while stack:
        value, depth = stack.pop()
        if type(value) in _HOLDING_NOTHING or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Instance) and any(value.cls.has_base(base) for base in _TRAINING):
            yield value
        elif depth:
            stack.extend((inner, depth - 1) for inner in _held(value))


def _held(value: Value) -> list[Value]:
    match value:
        case Instance(fields=fields) | Function(fields=fields):
            return [*fields.values(), *_captured(value)]
        case list() | tuple() | set() | frozenset():
            return list(value)[:64]
        case dict():
            return list(value.values())[:64]
        case Alternatives(values=values):
            return list(values)
        case Method(function=function, receiver=receiver):
            return [function, receiver]
        case Partial(function=function, args=args, kwargs=kwargs):
            return [function, *args, *kwargs.values()]
    return []


def _captured(value: Value) -> list[Value]:
    """What a closure holds."""
    return [cell["value"] for cell in value.cells.values() if "value" in cell] if isinstance(value, Function) else []
