"""What every class inherits: the plain ways to make, to read and to write an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.values import Call, HostFunction, Property, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


def write(machine: Machine, cells: dict[Value, Value], name: str, value: Value, span: Span) -> None:
    """Write a cell and note where."""
    if machine.domain.tracks_places:
        machine.places[(id(cells), name)] = span
    machine.heap.write(cells, name, value)


def of_object(name: str) -> HostFunction:
    """The method ``name`` of ``object``."""

    def run(call: Call) -> Value:
        match name:
            case "__setattr__":
                write(call.machine, call.args[0].fields, call.args[1], call.args[2], call.span)
            case "__delattr__":
                call.machine.heap.delete(call.args[0].fields, call.args[1])
            case "__new__":
                return call.machine.instance(call.args[0], call.span)
        return None

    return HostFunction(f"object.{name}", run)


def accessor(prop: Property, kind: str) -> HostFunction:
    """``prop.setter`` and the like: a decorator."""
    return HostFunction(kind, lambda call: Property(prop.getter, call.args[0]) if kind == "setter" else prop)
