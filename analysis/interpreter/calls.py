"""Calls: arguments, the kinds of callable, and running a guest function."""

from __future__ import annotations

import ast
from functools import partial, reduce
from typing import TYPE_CHECKING

from analysis.interpreter import binding, branches, generators, host_calls, managers
from analysis.interpreter.exceptions import guest_error, survivable, survived
from analysis.interpreter.frames import Frame
from analysis.interpreter.joins import join
from analysis.interpreter.open_dict import OpenDict
from analysis.interpreter.returns import either
from analysis.interpreter.scopes import names_of
from analysis.interpreter.signals import BudgetSpent, GuestRaise
from analysis.interpreter.values import (
    MISSING,
    Alternatives,
    Call,
    Class,
    External,
    Function,
    Guarded,
    HostFunction,
    HostValue,
    Instance,
    Method,
    Partial,
    Symbol,
    Value,
)
from analysis.trace.tree import Leave

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span

#: Guest calls deeper than this are not followed: recursion that deep is data-driven.
MAX_DEPTH = 64
#: How often one function may stand in the call stack.
MAX_RECURSION = 12
#: The same where nothing known ends it: its arguments are unknown, or it calls itself on one side of an undecided condition.
MAX_BLIND_RECURSION = 2
#: The same for what the domain brings: its items are as unknown as it is, and a container or two may have held it.
MAX_HOST_RECURSION = 4


def evaluate_call(machine: Machine, node: ast.Call, frame: Frame) -> Value:
    """A call expression."""
    callee = machine.evaluate(node.func, frame)
    span = frame.file.span(node)
    if isinstance(callee, HostFunction) and callee.name == "super" and not node.args:
        return managers.super_of(frame, span)
    spread: dict[str, Span | None] = {}
    args, kwargs = _arguments(machine, node, frame, spread)
    if machine.domain.tracks_places:
        machine.argument_places = (
            [binding.origin(machine, arg, frame) for arg in node.args],
            {**spread, **{keyword.arg: binding.origin(machine, keyword.value, frame) for keyword in node.keywords if keyword.arg}},
        )
    return call(machine, callee, args, kwargs, span)


def _arguments(machine: Machine, node: ast.Call, frame: Frame, places: dict[str, Span | None]) -> tuple[list[Value], dict[str, Value]]:
    """The values of the arguments; where those of a ``**`` mapping were set goes to ``places``."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    for arg in node.args:
        if not isinstance(arg, ast.Starred):
            args.append(machine.evaluate(arg, frame))
            continue
        value = machine.evaluate(arg.value, frame)
        if isinstance(value, (Symbol, Alternatives, External)):
            kwargs["*"] = value
        else:
            args.extend(machine.items(value, frame.file.span(arg)))
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        else:
            _spread(machine, value, kwargs, frame.file.span(keyword.value))
            if isinstance(value, dict):
                places.update({key: machine.place_of(value, key) for key in value if isinstance(key, str)})
            elif isinstance(value, Instance):
                places.update({key: machine.place_of(value.fields, key) for key in kwargs if key in value.fields})
    return args, kwargs


def _spread(machine: Machine, value: Value, kwargs: dict[str, Value], span: Span) -> None:
    if isinstance(value, dict):
        kwargs.update({key: item for key, item in value.items() if isinstance(key, str)})
        if isinstance(value, OpenDict):
            kwargs.setdefault("**", value.rest)
        for key, item in value.items():
            if isinstance(key, (Symbol, HostValue)) and (isinstance(item, HostValue) or (isinstance(item, Symbol) and item.stamp)):  # data, names not told
                kwargs.setdefault("**", item)
    elif isinstance(value, Instance) and value.cls.find("keys") is not MISSING:
        for key in machine.items(machine.call(machine.getattr(value, "keys", span), [], {}, span), span):
            if isinstance(key, str):
                kwargs[key] = machine.getitem(value, key, span)
    else:
        kwargs["**"] = value


def call(machine: Machine, callee: Value, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    """Call ``callee``."""
    machine.steps -= 1
    if machine.steps < 0:
        raise BudgetSpent
    match callee:
        case Function():
            return call_function(machine, callee, args, kwargs, span)
        case Method(function=function, receiver=receiver):
            args.insert(0, receiver)  # in place: a copy would keep the arguments alive during the call
            return call(machine, function, args, kwargs, span)
        case HostFunction():
            return _call_library(machine, callee, args, kwargs, span)
        case Class():
            return machine.construct(callee, args, kwargs, span)
        case Partial(function=function, args=first, kwargs=given):
            return call(machine, function, [*first, *args], {**given, **kwargs}, span)
        case Guarded(function=function, manager=manager):
            return managers.call_inside(machine, function, manager, args, kwargs, span)
        case generators.Manager():
            return Guarded(args[0], callee) if args else callee
        case Instance():
            return _call_instance(machine, callee, args, kwargs, span)
        case External(dotted=dotted):
            found = machine.domain.lookup(dotted)
            if found is MISSING or found == callee:
                return machine.domain.call_unknown(machine, callee, args, kwargs, span)
            return call(machine, found, args, kwargs, span)
        case Symbol():
            return machine.domain.call_unknown(machine, callee, args, kwargs, span)
        case Alternatives(values=values):
            options = [partial(call, machine, each, list(args), dict(kwargs), span) for each in values]
            return branches.choose(machine, span, options, machine.here, of_receivers=_on_one_of_several(values))
    if callable(callee):
        return host_calls.call_host(machine, callee, args, kwargs, span)
    machine.note(span, "calls something that was not followed")
    return machine.domain.call_unknown(machine, callee, args, kwargs, span)


def _on_one_of_several(values: tuple[Value, ...]) -> bool:
    """Whether these are a library's methods of different objects."""
    receivers = {
        id(each.receiver) for each in values if isinstance(each, Method) and isinstance(each.function, HostFunction) and isinstance(each.receiver, Instance)
    }
    return len(receivers) == len(values)


def _call_library(machine: Machine, callee: HostFunction, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    machine.domain.before_call(machine, span)
    before, machine.span = machine.span, span
    try:
        return callee.run(Call(machine, args, kwargs, span))
    except GuestRaise:
        raise
    except StopIteration as error:
        raise guest_error(error, span) from None
    except Exception as error:  # noqa: BLE001  a handler that fails on odd arguments must not end the run: the domain records it
        machine.refused = (*args, *kwargs.values())
        return machine.domain.host_failed(machine, callee, error, span)
    finally:
        machine.span = before


def _call_instance(machine: Machine, callee: Instance, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    found = callee.cls.find("__call__")
    if found is MISSING:
        return machine.domain.call_unknown(machine, callee, args, kwargs, span)
    args.insert(0, callee)
    return call(machine, found, args, kwargs, span)


def call_function(machine: Machine, function: Function, args: list[Value], kwargs: dict[str, Value], span: Span) -> Value:
    """Run a guest function (or make its generator)."""
    if machine.depth >= MAX_DEPTH or machine.state.get("stack", ()).count(function.node) >= _deepest(machine, args):
        machine.note(span, f"{function.qualname} calls itself too deeply to be followed")
        return machine.domain.call_unknown(machine, function, args, kwargs, span)
    if function.node in machine.skipped:
        machine.note(span, f"{function.qualname} takes more steps than are followed")
        return machine.domain.call_unknown(machine, function, args, kwargs, span)
    names = names_of(function.node)
    frame = Frame(function.module, {}, dict(function.cells), names, function, None, None, function.qualname, machine.stamp)
    for name in names.shared:
        frame.cells[name] = {}
    binding.bind(machine, function, args, kwargs, frame, span)
    args.clear()
    kwargs.clear()
    if names.is_generator:
        return generators.Generator(machine, frame, function.node)
    return run_body(machine, frame, span)


def _deepest(machine: Machine, args: list[Value]) -> int:
    """How often a function that is given ``args`` may stand in the call stack."""
    if machine.heap.log is not None or (args and all(isinstance(value, (Symbol, Function)) for value in args)):
        return MAX_BLIND_RECURSION
    return MAX_HOST_RECURSION if args and all(isinstance(value, HostValue) for value in args) else MAX_RECURSION


def run_body(machine: Machine, frame: Frame, span: Span) -> Value:
    """Run the body of a function whose arguments are bound."""
    function = frame.function
    assert function is not None  # noqa: S101  frames of functions have one
    caller, path, caller_span, stack, guards, stamp = machine.frame, machine.path, machine.span, machine.state.get("stack", ()), machine.guards, machine.stamp
    before, started, machine.costs_within = machine.costs_within, machine.steps, 0

    def back() -> None:
        spent = started - machine.steps
        machine.costs[function.node] = machine.costs.get(function.node, 0) + spent - machine.costs_within
        machine.costs_within = before + spent
        machine.tree.end()
        machine.frame, machine.path, machine.depth, machine.span, machine.guards = caller, path, machine.depth - 1, caller_span, guards
        machine.state["stack"] = stack

    machine.frame, machine.path, machine.depth = frame, (*path, span), machine.depth + 1
    machine.state["stack"] = (*stack, function.node)
    machine.executed[function.node] = function.module.file
    machine.tree.begin_call(span, function.qualname)
    level = len(machine.tree.stack)
    try:
        if isinstance(function.node, ast.Lambda):
            value = machine.evaluate(function.node.body, frame)
        else:
            left = machine.execute(function.node.body, frame)
            value = left.value if left is not None else None
            for each in reversed(branches.rejoin(machine, frame, ("return",), 0)):
                value = either(machine, each, value, span)
    except BudgetSpent as end:
        end.unfinished.append((function.node, started - machine.steps))
        raise
    except GuestRaise as error:
        machine.stamp, machine.tree.stack[level:] = stamp, []
        machine.tree.add(Leave("raise"))
        returned = branches.rejoin(machine, frame, ("return",), 0)
        if not returned and not survivable(machine, function, error):
            back()
            raise
        value = reduce(join, [left.value for left in returned]) if returned else survived(machine, error, span)
    back()
    frame.vars.clear()
    return value
