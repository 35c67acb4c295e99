"""Blocks and decorators whose name says that they turn gradients off, although the run could not see them do it.

They come from a package that is not there, or the run had no steps left to follow them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analysis.enclosing import enclosing
from analysis.source import SourceFile
from analysis.trace import Trace
from analysis.trace.events import Event

_NAMES = re.compile(r"no_?grad|inference", re.IGNORECASE)


def is_named_guarded(trace: Trace, event: Event) -> bool:
    """Whether a block or a decorator of that name stands around the event or one of the calls that lead to it."""
    for span in (*event.path, event.span):
        source = trace.snapshot.source(span.path) if span.path in trace.snapshot.contents else None
        if isinstance(source, SourceFile) and any(_says_so(node) for statement in enclosing(source, span).statements for node in _around(statement)):
            return True
    return False


def _around(statement: ast.stmt) -> Iterator[ast.expr]:
    match statement:
        case ast.With() | ast.AsyncWith():
            yield from (item.context_expr for item in statement.items)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from statement.decorator_list


def _says_so(expression: ast.expr) -> bool:
    """``smart_inference_mode()`` does; ``lib.inference.timed()`` does not."""
    while isinstance(expression, ast.Call):
        expression = expression.func
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _NAMES.search(name) is not None
    return False
