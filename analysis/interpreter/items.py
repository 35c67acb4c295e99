"""Items: how an index on a value is found, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.attributes import bind
from analysis.interpreter.joins import join
from analysis.interpreter.own_items import own_items
from analysis.interpreter.plain_objects import write
from analysis.interpreter.values import MISSING, Alternatives, Class, External, FewItems, Function, GuestList, HostFunction, HostValue, Instance, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

#: In the metadata of a class that was taken for any of a registry: what it does by itself the others need not do.
CHOSEN = "chosen of many"
#: Among the uses of a symbol: each rank has one of its own, under which it finds what the others find under theirs.
OF_EACH_RANK = "of each rank"


def get_item(machine: Machine, owner: Value, key: Value, span: Span) -> Value:
    """``owner[key]``."""
    if isinstance(key, Symbol):
        key.uses.add("key")
    match owner:
        case Symbol():
            if isinstance(key, (str, int)):
                return owner.part(f"[{key!r}]")
            return _part_of_unknown(machine, owner, key, span)
        case Instance():
            found = owner.cls.find("__getitem__")
            if found is not MISSING:
                return machine.call(bind(machine, found, owner, owner.cls, span), [key], {}, span)
            return machine.domain.unknown_attribute(machine, owner, "__getitem__", span)
        case Class() | External() | Function() | HostFunction():
            return _generic(owner, key)
        case Alternatives(values=values):
            result = get_item(machine, values[0], key, span)
            for other in values[1:]:
                result = join(result, get_item(machine, other, key, span))
            return result
        case type():
            return owner
    if isinstance(owner, list) and isinstance(key, slice) and (isinstance(owner, FewItems) or _undecided(key)):
        if _varies(key):
            return own_items(machine, owner, span)
        part = FewItems(owner)
        part.span, part.stamp = span, machine.stamp
        return part
    if isinstance(owner, FewItems) and isinstance(key, int) and not -len(owner) <= key < len(owner):
        return _any_item(owner, span, machine)
    if isinstance(owner, (dict, list, tuple)) and _undecided(key) and (owner or not hasattr(type(owner), "__missing__")):
        return _any_item(owner, span, machine)
    machine.domain.before_call(machine, span)
    try:
        found = owner[key]
    except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
        machine.refused = (owner, key)
        return machine.domain.host_failed(machine, owner, error, span)
    if type(found) is list and isinstance(owner, list):
        found = GuestList(found)
        found.span, found.stamp = span, machine.stamp
    return found


def _part_of_unknown(machine: Machine, owner: Symbol, key: Value, span: Span) -> Symbol:
    """A slice of something unknown; between two numbers its length is known."""
    varying = owner.rank_varying or _varies(key)
    part = Symbol(f"{owner!r}[…]", span, machine.stamp, rank_varying=varying)
    part.source = owner
    if isinstance(key, slice) and isinstance(key.stop, int) and isinstance(key.start, int | None) and key.step in {None, 1}:
        start = key.start or 0
        if 0 <= start <= key.stop:
            part.parts[".__len__()"] = key.stop - start
    return part


def _varies(key: Value) -> bool:
    """Whether ranks ask for different places: ``files[rank::ranks]``."""
    parts = (key.start, key.stop, key.step) if isinstance(key, slice) else (key,)
    return any(getattr(part, "rank_varying", False) is True and OF_EACH_RANK not in getattr(part, "uses", ()) for part in parts)


def _undecided(key: Value) -> bool:
    if isinstance(key, slice):
        return any(_undecided(part) for part in (key.start, key.stop, key.step))
    return isinstance(key, (Symbol, Alternatives))


def _any_item(owner: Value, span: Span, machine: Machine) -> Value:
    values = list(owner.values()) if isinstance(owner, dict) else list(owner)
    if not values:
        return Symbol("an item of an empty collection", span, machine.stamp)
    if isinstance(owner, dict) and machine.survives_raises and all(_is_a_choice(value) for value in values):
        return _chosen(values)
    result = values[0]
    for value in values[1:64]:
        if isinstance(result, Symbol):
            break  # it stays so, whatever is joined to it
        result = join(result, value)
    return result


def _chosen(values: list[Value]) -> Value:
    """The first of a registry of classes: what is true of one of them is told, rather than nothing of any. It is marked where there are others."""
    first = values[0]
    for each in first if isinstance(first, tuple) else (first,):
        if len(values) > 1 and isinstance(each, Class):
            each.metadata[CHOSEN] = True
    return first


def _is_a_choice(value: Value) -> bool:
    """Whether it is a class or function, or a tuple of them, as registries hold them."""
    return isinstance(value, (Class, External, Function)) or (isinstance(value, tuple) and bool(value) and all(_is_a_choice(each) for each in value))


def _generic(owner: Value, key: Value) -> Value:
    """``Base[int]`` is ``Base``; members of an enumeration are found by name."""
    if isinstance(owner, Class) and isinstance(key, str):
        return owner.metadata.get("members", {}).get(key, owner)
    return owner


def set_item(machine: Machine, owner: Value, key: Value, value: Value, span: Span) -> None:
    """``owner[key] = value``."""
    if machine.domain.watches_stores:
        value = machine.domain.stored(machine, owner, key, value, span)
    match owner:
        case dict():
            name = key if not isinstance(key, (Alternatives, slice)) and key.__hash__ is not None else repr(key)
            write(machine, owner, name, value, span)
        case list():
            _set_in_list(machine, owner, key, value, span)
        case Symbol():
            if isinstance(key, (str, int)):
                machine.heap.write(owner.parts, f"[{key!r}]", value)
        case Instance():
            found = owner.cls.find("__setitem__")
            if found is not MISSING:
                machine.call(bind(machine, found, owner, owner.cls, span), [key, value], {}, span)
        case HostValue():
            machine.domain.before_call(machine, span)
            try:
                owner[key] = value  # type: ignore[index]  # a domain's tensor takes items
            except Exception as error:  # noqa: BLE001  the guest's error or a gap of the domain: one place decides
                machine.refused = (owner, key, value)
                machine.domain.host_failed(machine, owner, error, span)
        case _:
            machine.note(span, "sets an item of something that was not followed")


def _set_in_list(machine: Machine, owner: list[Value], key: Value, value: Value, span: Span) -> None:
    machine.heap.touch(owner)
    if isinstance(key, slice) and machine.domain.watches_stores:
        machine.domain.stored(machine, owner, None, MISSING, span)
    try:
        owner[key] = machine.items(value, span) if isinstance(key, slice) and not isinstance(value, list) else value
    except (TypeError, IndexError, ValueError):
        owner.append(value)
        machine.note(span, "sets an item at a position that is not known")
