"""Values that are kept: which stores are events, and the marks by which a value that takes in its predecessor is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.frames import Frame
from analysis.interpreter.values import MISSING, Alternatives, Class, GuestList, Instance, Module, Stamp, Symbol, Value
from analysis.library.casting import Castable
from analysis.library.ownership import is_module
from analysis.library.parts import ModelPart
from analysis.library.recording import emit, modes
from analysis.library.tensor import Mark, Parameter, Stored, Tensor, tensors_in
from analysis.source import Span
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain

#: Containers of more items are lists of things, and no state of a few parts; a dictionary names its parts, and may have more of them.
_PARTS, _NAMED_PARTS = 4, 32


def stored(domain: TraceDomain, holder: Value, key: Value, value: Value, span: Span, *, part: bool = False) -> Value:
    """What is stored: tensors that carry a graph bear a mark of the slot from then on. ``part``: it is inside what is stored."""
    if isinstance(key, Symbol) and isinstance(holder, (Instance, Class)) and not is_module(holder):
        _open_switches(domain, holder.fields if isinstance(holder, Instance) else holder.namespace, span)
    if isinstance(value, Tensor):
        return value if _may_be_made_anew(holder) else _kept(domain, holder, key, value, span, part=part)
    if value is MISSING:
        emit(domain.machine, Kind.CLEAR, subject=holder)
    if value is None and key == "grad" and isinstance(holder, Symbol):
        emit(domain.machine, Kind.ZERO_GRAD, subject=holder)  # of something that is not known: any gradients may be meant
    if isinstance(value, Instance):
        if is_module(value):
            if isinstance(holder, ModelPart):  # ``model.classifier[3] = Linear(…)``: the model has it from now on
                domain.machine.heap.write(holder.owner.fields, f"{holder.name}: {key}", value)
            domain.ownership.changed()
        elif not isinstance(holder, Frame) and value.cls.span is not None:
            _report_parts(domain, holder, key, value, span)
        elif isinstance(holder, Frame) and value.stamp == domain.machine.stamp != holder.stamp:
            for content in (value.fields, *value.fields.values()):
                if _is_a_state(content):
                    _mark_parts(domain, holder, key, content, span)
        return value
    if isinstance(value, tuple):
        return tuple(stored(domain, holder, _place(key, index), item, span, part=True) for index, item in enumerate(value))
    if isinstance(value, GuestList) and value.stamp == domain.machine.stamp and isinstance(key, str):
        _replaces(domain, holder, key, value)
    if isinstance(value, (list, dict)) and not isinstance(holder, Frame):
        _report_parts(domain, holder, key, value, span)
    elif _is_a_state(value) and stamp_of(value) == domain.machine.stamp != stamp_of(holder):
        _mark_parts(domain, holder, key, value, span)
    return value


def _may_be_made_anew(holder: Value) -> bool:
    """Whether it is an attribute of something unknown: perhaps a table that is put together each time it is asked for, which keeps nothing."""
    return isinstance(holder, Castable) and holder.whole is not None and holder.key.startswith(".")


def _replaces(domain: TraceDomain, holder: Value, key: str, value: GuestList) -> None:
    """A new list takes the place of an old one (``self.last = self.last[-1:]``): what only the old one held is gone."""
    slots = holder.vars if isinstance(holder, Frame) else holder.fields if isinstance(holder, Instance) else {}
    old = slots.get(key)
    if isinstance(old, GuestList) and old is not value:
        emit(domain.machine, Kind.CLEAR, subject=old)


def _is_a_state(value: Value) -> bool:
    """Whether its parts are few enough to be a state."""
    match value:
        case dict():
            return len(value) <= _NAMED_PARTS
        case GuestList():
            return len(value) <= _PARTS
    return False


def _report_parts(domain: TraceDomain, holder: Value, key: Value, value: list[Value] | dict[Value, Value] | Instance, span: Span) -> None:
    """What is stored holds tensors: a container, or an object of the program's own (a transition, a record) in its attributes."""
    for tensor in tensors_in(list(value.fields.values()) if isinstance(value, Instance) else value):
        if tensor.attached and not isinstance(tensor, Parameter):
            _report(domain, tensor, span, Stored(key, _outlives(stamp_of(holder), domain.machine.stamp), isinstance(holder, list), part=True), holder)


def _mark_parts(domain: TraceDomain, holder: Value, key: Value, value: Value, span: Span) -> None:
    """A container made in this iteration goes into a variable: what it holds bears a mark of the variable, as a tuple's items do."""
    for place, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        marked = _marked(domain, holder, _place(key, place), item, span) if isinstance(item, (Tensor, Alternatives)) else item
        if marked is not item:
            if isinstance(value, dict):
                domain.machine.heap.write(value, place, marked)
            else:
                domain.machine.heap.touch(value)
                value[place] = marked


def _marked(domain: TraceDomain, holder: Value, key: Value, item: Value, span: Span) -> Value:
    """The item with a mark of the slot, if it is a tensor with a graph, or may be one."""
    match item:
        case Tensor(attached=True):
            return _kept(domain, holder, key, item, span, part=True)
        case Alternatives(values=values) if any(isinstance(each, Tensor) and each.attached for each in values):
            return Alternatives(tuple(_marked(domain, holder, key, each, span) for each in values), rank_varying=item.rank_varying)
    return item


def _open_switches(domain: TraceDomain, held: dict[str, Value], span: Span) -> None:
    """An attribute whose name is not told was set: any option that is off, on or absent by default may be the one."""
    for name, value in list(held.items()):
        if (value is None or isinstance(value, bool)) and not name.startswith("__"):
            domain.machine.heap.write(held, name, domain.casting.symbol(name, span, ()))


def _place(key: Value, index: Value) -> Value:
    return f"{key}[{index}]" if isinstance(key, str) else key


def _kept(domain: TraceDomain, holder: Value, key: Value, value: Tensor, span: Span, *, part: bool) -> Value:
    machine = domain.machine
    if isinstance(value, Parameter):
        domain.ownership.changed()
        return value
    if not value.attached or (isinstance(holder, Frame) and holder.stamp == machine.stamp):
        return value
    slot = id(holder), key if isinstance(key, str) else "[]" if key is None or isinstance(key, (int, Symbol)) else repr(key)
    before = [mark.stamp for mark in value.marks if (mark.holder, mark.key) == slot and _earlier(mark.stamp, machine.stamp)]
    grows = _adds(holder, key) or bool(before)
    marked = domain.autograd.marked(value, Mark(*slot, machine.stamp))
    if grows or not isinstance(holder, Frame):
        detail = Stored(key, _outlives(stamp_of(holder), machine.stamp), grows, max(before, default=None), part)
        _report(domain, marked, span, detail, holder)
    return marked


def _report(domain: TraceDomain, value: Tensor, span: Span, detail: Stored, holder: Value) -> None:
    machine = domain.machine
    domain.stored_graphs += _outlives(stamp_of(holder), modes(machine).forward_stamp)
    before, machine.span = machine.span, span
    emit(machine, Kind.STORE, subject=holder, value=value, detail=detail)
    machine.span = before


def grown(domain: TraceDomain, tensor: Tensor, made: Tensor, span: Span) -> None:
    """``total.add_(loss)``: a tensor that takes in others where it stands keeps their graph for as long as it lives."""
    now = domain.machine.stamp
    if made.attached and _outlives(tensor.stamp, now):
        _report(domain, made, span, Stored(None, outlives=True, grows=True), tensor)


def _adds(holder: Value, key: Value) -> bool:
    """Whether a write to the container overwrites nothing: an append, or an item under a running key."""
    if isinstance(holder, (list, set)):
        return key is None and not isinstance(getattr(holder, "maxlen", None), int)
    return isinstance(holder, dict) and not isinstance(key, (str, bytes)) and key not in holder


def _earlier(before: Stamp, now: Stamp) -> bool:
    """Whether ``before`` lies in an earlier iteration of a loop that still runs."""
    return any(old[0] == new[0] and old[1] != new[1] for old, new in zip(before, now, strict=False))


def _outlives(holder: Stamp, now: Stamp) -> bool:
    """Whether the holder was made before some iteration that now runs."""
    return any(level >= len(holder) or holder[level] != current for level, current in enumerate(now))


def stamp_of(holder: Value) -> Stamp:
    """When a holder was made; what has no stamp was there from the start."""
    return () if isinstance(holder, Module) else getattr(holder, "stamp", ())
