"""Binding arguments to parameters, and where an argument's value came from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from analysis.interpreter.open_dict import OpenDict
from analysis.interpreter.values import MISSING, Class, Function, GuestDict, HostValue, Instance, Module, Partial, Symbol, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

#: Beginning of the use that tells the annotation of a parameter for which a symbol was passed.
PASSED_AS = ": "


def bind(machine: Machine, function: Function, args: list[Value], kwargs: dict[str, Value], frame: Frame, span: Span) -> None:
    """Fill the parameters of ``frame``. What the source does not pass and has no default becomes a symbol."""
    arguments = function.node.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    tracked = machine.domain.tracks_places
    places = machine.argument_places if tracked else ([], {})
    machine.argument_places = ([], {})
    rest = dict(kwargs)
    more = rest.pop("*", MISSING)
    spread = rest.pop("**", MISSING)
    first_default = len(parameters) - len(function.defaults)
    shift = len(args) - len(places[0]) if places[0] else 0
    for index, parameter in enumerate(parameters):
        name = parameter.arg
        if index < len(args):
            value = args[index]
            place = places[0][index - shift] if 0 <= index - shift < len(places[0]) else None
        elif name in rest:
            value, place = rest.pop(name), places[1].get(name)
        else:
            default = function.defaults[index - first_default] if index >= first_default else MISSING
            value, place = _not_given(default, more, spread, name, span, machine), None
        if parameter.annotation is not None and isinstance(value, Symbol):
            value.uses.add(f"{PASSED_AS}{ast.unparse(parameter.annotation)}")
        _set(machine, frame, name, value, (place or frame.file.span(parameter)) if tracked else None)
    for parameter in arguments.kwonlyargs:
        name = parameter.arg
        given = rest.pop(name, MISSING)
        value = _not_given(function.kw_defaults.get(name, MISSING), MISSING, spread, name, span, machine) if given is MISSING else given
        _set(machine, frame, name, value, (places[1].get(name) or frame.file.span(parameter)) if tracked else None)
    if arguments.vararg is not None:
        _set(machine, frame, arguments.vararg.arg, tuple(args[len(parameters) :]) if more is MISSING else more, None)
    if arguments.kwarg is not None:
        open_ended = isinstance(spread, Symbol) and bool(rest) and machine.survives_raises
        collected = OpenDict(rest, spread) if open_ended else GuestDict(rest)
        collected.span, collected.stamp = span, machine.stamp
        machine.places.update({(id(collected), key): place for key, place in places[1].items() if key in rest and place is not None})
        _set(machine, frame, arguments.kwarg.arg, collected if spread is MISSING or rest else spread, None)


def _not_given(default: Value, more: Value, spread: Value, name: str, span: Span, machine: Machine) -> Value:
    if default is None and _may_pass(machine, spread, name, span):
        return machine.getitem(spread, name, span)
    if default is not MISSING:
        return default
    for unknown in (spread, more):
        if isinstance(unknown, Symbol):
            return unknown.part(f"[{name!r}]")
    return Symbol(f"the argument {name}", span, machine.stamp)


def _may_pass(machine: Machine, spread: Value, name: str, span: Span) -> bool:
    """Whether data that are spread over the parameters of a function hold one that may be left out: a flag like any other."""
    data = isinstance(spread, HostValue) or (isinstance(spread, Symbol) and bool(spread.stamp) and spread.source is None)
    if not (machine.survives_raises and data):
        return False
    return machine.domain.decide(machine, Symbol(f"{name} in what is passed", span), span) is not False


def _set(machine: Machine, frame: Frame, name: str, value: Value, place: Span | None) -> None:
    cells, key = (frame.cells[name], "value") if name in frame.cells else (frame.vars, name)
    cells[key] = value  # a new frame: nothing to undo
    if place is not None:
        machine.places[(id(cells), key)] = place


def origin(machine: Machine, node: ast.expr, frame: Frame) -> Span | None:
    """Where the value of ``node`` was set: the assignment behind a name, attribute or item, else the expression itself."""
    match node:
        case ast.Starred():
            return None
        case ast.Name(id=name):
            for cells, key in ((frame.cells.get(name, {}), "value"), (frame.vars, name), (frame.module.vars, name)):
                if key in cells:
                    return machine.place_of(cells, key) or frame.file.span(node)
        case ast.Attribute(value=inner, attr=attribute):
            cells = _cells_of(_already_there(machine, inner, frame), attribute)
            if attribute in cells:
                return machine.place_of(cells, attribute) or frame.file.span(node)
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            owner = _already_there(machine, inner, frame)
            if isinstance(owner, dict):
                return machine.place_of(owner, key) or frame.file.span(node)
    return frame.file.span(node)


def _already_there(machine: Machine, node: ast.expr, frame: Frame) -> Value:
    """The value of names, attributes and items that can be looked at without running anything; ``MISSING`` for the rest."""
    match node:
        case ast.Name(id=name):
            return machine.lookup(name, frame)
        case ast.Attribute(value=inner, attr=attribute):
            return _cells_of(_already_there(machine, inner, frame), attribute).get(attribute, MISSING)
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            owner = _already_there(machine, inner, frame)
            return owner.get(key, MISSING) if isinstance(owner, dict) else MISSING
    return MISSING


def _cells_of(owner: Value, attribute: str) -> dict[Any, Value]:
    """Where an object, a class or a module keeps an attribute of its own or an inherited one; empty where it has none that is plain."""
    match owner:
        case Instance() if attribute in owner.fields:
            return owner.fields
        case Module():
            return owner.vars
        case Instance() | Class():
            cls = owner.cls if isinstance(owner, Instance) else owner
            return next((each.namespace for each in cls.mro if attribute in each.namespace), {})
    return {}


def partial_of(function: Value, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Partial:
    """``functools.partial`` as Python makes one: of a callable that is one itself, what is inside with the arguments of both."""
    if isinstance(function, Partial):
        return Partial(function.function, (*function.args, *args), {**function.kwargs, **kwargs})
    return Partial(function, args, kwargs)
