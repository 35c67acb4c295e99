"""Functions as values: which defaults they hold and which cells they close over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from analysis.interpreter.scopes import names_of
from analysis.interpreter.values import Function, Value

if TYPE_CHECKING:
    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine


def make_function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, frame: Frame) -> Function:
    """A function closed over the cells of ``frame`` that it uses."""
    defaults = tuple(machine.evaluate(default, frame) for default in node.args.defaults)
    kw_defaults = {
        argument.arg: machine.evaluate(default, frame)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is not None
    }
    around = frame.cells or frame.outer is not None
    cells = {name: cell for name in names_of(node).free if (cell := _cell(frame, name)) is not None} if around else {}
    qualname = f"{frame.qualname}.{name}" if frame.qualname else name
    return Function(name, qualname, node, frame.module, defaults, kw_defaults, cells, frame.owner)


def _cell(frame: Frame, name: str) -> dict[Value, Value] | None:
    """The cell of ``name`` in ``frame`` or, for a class body, around it."""
    if name in frame.cells:
        return frame.cells[name]
    return _cell(frame.outer, name) if frame.outer is not None else None
