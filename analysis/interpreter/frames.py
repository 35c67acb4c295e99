"""Activations of guest code, and the ways in which a statement leaves one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import Cell, Class, Function, Module, Stamp, Value

if TYPE_CHECKING:
    from analysis.interpreter.heap import Delta
    from analysis.interpreter.scopes import Names
    from analysis.source import SourceFile, Span


@dataclass(slots=True, eq=False)
class Exit:
    """How a statement left: "break", "continue" or "return" (with its value), and where.

    ``divided``: the condition that ranks answer differently and whether it held, if it left on one side of such a branch.
    """

    kind: str
    value: Value = None
    span: Span | None = None
    divided: tuple[Value, bool] | None = None


@dataclass(slots=True, eq=False)
class Frame:
    """One activation of a function, a module's top level or a class body."""

    module: Module
    vars: dict[Value, Value]
    cells: dict[str, Cell] = field(default_factory=dict)
    names: Names | None = None
    function: Function | None = None
    owner: Class | None = None
    outer: Frame | None = None
    qualname: str = ""
    stamp: Stamp = ()
    #: Exits that one side of an undecided branch took, with what it wrote until then.
    pending: list[tuple[Exit, Delta]] = field(default_factory=list)
    generator: Any = None
    receiver: Value = None
    #: The file whose code runs.
    file: SourceFile = field(init=False)

    def __post_init__(self) -> None:
        self.file = self.module.file
