"""Functions as values: which defaults they hold and which cells they close over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from analysis.interpreter.scopes import names_of
from analysis.interpreter.values import Function, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.interpreter.frames import Frame
    from analysis.interpreter.machine import Machine

#: What most functions hold of either: files define many that are never called, so each is made of as few objects as can be.
_NONE: Mapping[str, Value] = {}


def make_function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, frame: Frame) -> Function:
    """A function closed over the cells of ``frame`` that it uses."""
    arguments = node.args
    defaults = tuple([machine.evaluate(default, frame) for default in arguments.defaults]) if arguments.defaults else ()
    kw_defaults = _keyword_defaults(machine, arguments, frame) if arguments.kw_defaults else _NONE
    around = frame.cells or frame.outer is not None
    cells = {name: cell for name in names_of(node).free if (cell := _cell(frame, name)) is not None} if around else _NONE
    qualname = f"{frame.qualname}.{name}" if frame.qualname else name
    return Function(name, qualname, node, frame.module, defaults, kw_defaults, cells, frame.owner)


def _keyword_defaults(machine: Machine, arguments: ast.arguments, frame: Frame) -> dict[str, Value]:
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: machine.evaluate(default, frame) for argument, default in named if default is not None}


def _cell(frame: Frame, name: str) -> dict[Value, Value] | None:
    """The cell of ``name`` in ``frame`` or, for a class body, around it."""
    if name in frame.cells:
        return frame.cells[name]
    return _cell(frame.outer, name) if frame.outer is not None else None
