"""Lengths of prepared schedules that are counted on the loader of all ranks and multiplied by their number. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.interpreter.values import Instance
from analysis.rules._objects import confidence_in
from analysis.rules._schedules import LENGTHS, RULE_NAME, length_of, names_ranks
from analysis.source import SourceFile, Span
from analysis.syntax import children, walk
from analysis.trace import Trace
from analysis.trace.reading import around, call_at

#: How many assignments are followed from the length to what it was made of.
_MOST = 12


@dataclass(frozen=True, slots=True)
class CountedWhole:
    """``counted``: the ``len()`` of a loader that ``divided`` shares out between the ranks afterwards."""

    counted: Span
    divided: Span


def counted_whole(trace: Trace, scheduler: Instance) -> CountedWhole | None:
    """Where the length of ``scheduler`` takes the loader's from, if ranks multiply it and the loader is shared out only later.

    A length that is divided by their number on the way, or that an option gives, says nothing.
    """
    span = scheduler.span
    call = call_at(trace.snapshot, span) if span is not None else None
    stands = around(trace.snapshot, span) if span is not None else None
    source = trace.snapshot.source(span.path) if span is not None and span.path in trace.snapshot.contents else None
    if call is None or stands is None or stands.function is None or not isinstance(source, SourceFile) or not isinstance(length_of(scheduler), int):
        return None
    written = _Written([keyword.value for keyword in call.keywords if keyword.arg in LENGTHS], list(walk(stands.function)), call.lineno)
    chosen = any(isinstance(node, ast.IfExp) for node in written.nodes)
    if not written.times_ranks or chosen or _is_given(source, written.followed):
        return None
    for node in written.nodes:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=loader)]):
                shares = [each for each in walk(stands.function) if isinstance(each, ast.Call) and _prepares(each, loader)]
                if shares and all(each.lineno > max(node.lineno, call.lineno) for each in shares):
                    return CountedWhole(source.span(node), source.span(shares[0]))
    return None


def told_too_much(scheduler: Instance, found: CountedWhole) -> Finding:
    """What is said of such a length."""
    span = scheduler.span or found.counted
    says = (
        "the schedule's length is the number of steps over the whole loader times the number of processes, but each process goes through its share only: "
        "training ends long before the schedule does"
    )
    chain = (
        Evidence(found.counted, "the length is counted on the loader of all processes"),
        Evidence(span, "it is multiplied by their number"),
        Evidence(found.divided, "the loader is shared out between them here"),
    )
    why = "divide the loader's length by the number of processes before it is multiplied by it, where no number of steps is given"
    return Finding(RULE_NAME, Severity.ERROR, min(confidence_in(scheduler), Confidence.MEDIUM), span, says, chain, no_fix_because=why)


class _Written:
    """Expressions, and what the variables in them were assigned above ``line``; ``followed``: those variables."""

    def __init__(self, written: list[ast.expr], nodes: list[ast.AST], line: int) -> None:
        assigned: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.Assign) and node.lineno < line:
                for target in node.targets:
                    if isinstance(target, (ast.Name, ast.Attribute)):
                        assigned.setdefault(ast.unparse(target), []).append(node.value)
        self.followed: set[str] = set()
        self.nodes: list[ast.AST] = []
        todo = list(written)
        while todo and len(self.followed) < _MOST:
            inside = list(_reckoned(todo.pop()))
            self.nodes += inside
            for node in inside:
                name = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
                if name in assigned and name not in self.followed:
                    self.followed.add(name)
                    todo += assigned[name]

    @property
    def times_ranks(self) -> bool:
        """Whether a product in it has the number of ranks, and no quotient takes it out again."""
        found = [node for node in self.nodes if isinstance(node, ast.BinOp)]
        products = [node for node in found if isinstance(node.op, ast.Mult) and (names_ranks(node.left) or names_ranks(node.right))]
        return bool(products) and not any(isinstance(node.op, (ast.Div, ast.FloorDiv)) and names_ranks(node.right) for node in found)


def _reckoned(written: ast.AST) -> Iterator[ast.AST]:
    """What goes into a number: of a ``len()`` the call alone, for what its loader is made of does not."""
    todo = [written]
    while todo:
        node = todo.pop()
        yield node
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"):
            todo.extend(children(node))


def _prepares(call: ast.Call, loader: str) -> bool:
    named = isinstance(call.func, ast.Attribute) and call.func.attr in {"prepare", "prepare_data_loader"}
    return named and any(isinstance(each, ast.Name) and each.id == loader for each in call.args)


def _is_given(source: SourceFile, names: Collection[str]) -> bool:
    """Whether one of the attributes is an option with a default of its own: then nothing is counted."""
    options = {name.rpartition(".")[2] for name in names if "." in name}
    for node in walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str(option)), *_], keywords=keywords):
                defaults = [each.value for each in keywords if each.arg == "default"]
                if option.lstrip("-").replace("-", "_") in options and not all(isinstance(each, ast.Constant) and each.value is None for each in defaults):
                    return True
    return False
