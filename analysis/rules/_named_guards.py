"""Blocks, decorators and conditions whose names say what they are for, although the run could not see them do it.

They come from a package that is not there, the run had no steps left to follow them, or the number that they ask for was a constant in this run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from analysis.enclosing import enclosing
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event

_NAMES = re.compile(r"no_?grad|inference", re.IGNORECASE)
#: What a number or a function is called that tells one rank from the others.
_RANKS = re.compile(r"rank|main_?proc|is_?main|master|primary|chief|coordinator|leader", re.IGNORECASE)
#: And one that tells whether there are several.
_SEVERAL = re.compile(r"fabric|accelerator|distributed|world_?size|num_(?:gpus|processes)|n_?gpus?|is_dist|ddp", re.IGNORECASE)


def is_named_guarded(trace: Trace, event: Event) -> bool:
    """Whether a block or a decorator of that name stands around the event or one of the calls that lead to it."""
    for span in (*event.path, event.span):
        source = trace.snapshot.source(span.path) if span.path in trace.snapshot.contents else None
        if isinstance(source, SourceFile) and any(_says_so(node) for statement in enclosing(source, span).statements for node in _around(statement)):
            return True
    return False


def is_behind_named_rank(trace: Trace, event: Event) -> bool:
    """Whether a condition on something that is called a rank stands around the event or a call that leads to it, or before, or says there is one only."""
    for span in (*event.path, event.span):
        source = trace.snapshot.source(span.path) if span.path in trace.snapshot.contents else None
        if isinstance(source, SourceFile):
            if any(_asks_for_rank(trace, source, each) for each in _conditions(source, span)):
                return True
            if any(_is_for_one(source, outer, span) for outer in enclosing(source, span).statements if isinstance(outer, ast.If)):
                return True
    return False


def _is_for_one(source: SourceFile, condition: ast.If, span: Span) -> bool:
    """Whether the place stands on the side of a condition on which there is no framework, or no second process."""
    otherwise = any(source.span(each).holds(span) for each in condition.orelse)
    match condition.test:
        case ast.Compare(left=asked, ops=[ast.Is()], comparators=[ast.Constant(value=None)]) | ast.UnaryOp(op=ast.Not(), operand=asked):
            alone = not otherwise
        case ast.Compare(left=asked, ops=[ast.Eq()], comparators=[ast.Constant(value=1)]):
            alone = not otherwise
        case ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]) | ast.Compare(left=asked, ops=[ast.Gt()]):
            alone = otherwise
        case asked:
            alone = otherwise
    name = asked.id if isinstance(asked, ast.Name) else asked.attr if isinstance(asked, ast.Attribute) else ""
    return alone and _SEVERAL.search(name) is not None


def _conditions(source: SourceFile, span: Span) -> Iterator[ast.expr]:
    """The tests of the conditions around a place, and of those before it, in the blocks around it, behind which the block is left."""
    for outer in enclosing(source, span).statements:
        if isinstance(outer, ast.If):
            yield outer.test
        for each in getattr(outer, "body", ()):
            if isinstance(each, ast.If) and source.span(each).end <= span.start and isinstance(each.body[-1], ast.Return | ast.Continue | ast.Raise):
                yield each.test


def _asks_for_rank(trace: Trace, source: SourceFile, test: ast.expr) -> bool:
    """Whether a condition names a rank, or a variable of its file, or an attribute anywhere, that is set by one."""
    for node in walk(test):
        match node:
            case ast.Name(id=name):
                found = _RANKS.search(name) is not None or _is_set_by_rank(rf"\b{name}", [source.content])
            case ast.Attribute(attr=name):
                found = _RANKS.search(name) is not None or _is_set_by_rank(rf"\.{name}", trace.snapshot.contents.values())
            case _:
                found = False
        if found:
            return True
    return False


def _is_set_by_rank(target: str, contents: Iterable[bytes]) -> bool:
    """Whether the rest of some line that sets ``target``, a pattern, names a rank."""
    pattern = re.compile(rf"{target}\s*=(?!=)([^\n]*)".encode())
    return any(_RANKS.search(line.decode(errors="replace")) for content in contents for line in pattern.findall(content))


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
