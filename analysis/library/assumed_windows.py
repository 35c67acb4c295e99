"""A window that the source does not tell is rehearsed as a small number: what a program asks about it is answered with that number.

``if steps > 1: loss = loss / steps`` and ``if (i + 1) % steps == 0`` speak of one window. Answered apart, a run would accumulate without dividing.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from analysis.interpreter.values import Symbol, Value
from analysis.library.rehearsal import SHRUNK_WINDOW
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.syntax import walk

_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def answer(snapshot: Snapshot, condition: Value, span: Span) -> bool | None:
    """What a comparison of such a window with a number gives; None if ``condition`` is none, or nothing in its file counts by it."""
    if not isinstance(condition, Symbol):
        return None
    match condition.test:
        case ("not", Symbol() as inner):
            inside = answer(snapshot, inner, span)
            return None if inside is None else not inside
        case ("==" | "!=" as sign, int() as number, Symbol(test=("-", Symbol() as window, 1))) if _is_counted_by(snapshot, window, span):
            return _COMPARISONS[sign](number, SHRUNK_WINDOW - 1)
        case (sign, Symbol() as window, int() as number) if sign in _COMPARISONS and _is_counted_by(snapshot, window, span):
            return _COMPARISONS[sign](SHRUNK_WINDOW, number)
        case (sign, int() as number, Symbol() as window) if sign in _COMPARISONS and _is_counted_by(snapshot, window, span):
            return _COMPARISONS[sign](number, SHRUNK_WINDOW)
    return None


def _is_counted_by(snapshot: Snapshot, window: Symbol, span: Span) -> bool:
    """Whether the file takes some number modulo a value of the same name, or counts up to it and begins again."""
    source = snapshot.source(span.path) if span.path in snapshot.contents else None
    return window.stamp == () and isinstance(source, SourceFile) and window.why.rpartition(".")[2] in _moduli(source)


@lru_cache(maxsize=4096)
def _moduli(source: SourceFile) -> frozenset[str]:
    """The names, or last parts of dotted names, of what numbers are taken modulo of, and of what counters are compared with that begin again then."""
    found = (each for node in walk(source.tree) for each in _windows(node))
    return frozenset(each.id if isinstance(each, ast.Name) else each.attr for each in found if isinstance(each, (ast.Name, ast.Attribute)))


def _windows(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Mod(), right=window):
            yield window
        case ast.If(test=ast.Compare(left=counter, ops=[ast.Eq() | ast.GtE()], comparators=[window]), body=body):
            if any(_begins_again(each, ast.unparse(counter)) for each in body):
                yield window


def _begins_again(statement: ast.stmt, counter: str) -> bool:
    match statement:
        case ast.Assign(targets=targets, value=ast.Constant(value=0)):
            return any(ast.unparse(each) == counter for each in targets)
    return False
