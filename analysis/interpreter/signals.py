"""What travels up the host's stack while guest code runs: the guest's own exceptions, and the ends of a run."""

from __future__ import annotations

import ast

from analysis.interpreter.values import Value
from analysis.source import Span


class GuestRaise(Exception):  # noqa: N818  a guest's exception on its way, not an error of ours
    """A guest exception: ``value`` is the exception object."""

    def __init__(self, value: Value, span: Span | None = None) -> None:
        super().__init__(repr(value))
        self.value = value
        self.span = span


class BudgetSpent(BaseException):
    """The step budget of a run is used up; what was traced until then stands.

    ``unfinished``: the functions that it came out of, the innermost first, with the steps that each took with what it called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unfinished: list[tuple[ast.AST, int]] = []


class StopRun(BaseException):
    """A domain has seen enough (two optimizer steps, say)."""
