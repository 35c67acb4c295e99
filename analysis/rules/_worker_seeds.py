"""What a ``worker_init_fn`` seeds its worker with. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast

from analysis.interpreter.values import External, Function
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace.reading import call_at

_NUMPY = "numpy.random."
#: Functions of ``numpy.random`` that draw from the global generator, or show its state.
_DRAWING = frozenset(["randint", "rand", "randn", "random", "random_sample", "choice", "permutation", "uniform", "get_state"])


def copied_seed(function: Function) -> Span | None:
    """The draw from NumPy's global generator that ``function`` seeds with, if it does."""
    for call in ast.walk(function.node):
        match call:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given) if "seed" in name:
                for part in (node for each in given for node in ast.walk(each)):
                    if isinstance(part, ast.Call) and _draws(function, part.func):
                        return function.module.file.span(part)
    return None


def one_seed(function: Function, package: str) -> Span | None:
    """Where ``function`` seeds the global generator of ``package`` with a number that is written down: the same in each worker."""
    seeders = {f"{package}.random.seed", f"{package}.seed", f"{package}.manual_seed"}
    for call in ast.walk(function.node):
        match call:
            case ast.Call(func=callee, args=[given]) if _dotted(function, callee) in seeders and _is_written(function, given):
                return function.module.file.span(call)
    return None


def seeded_by_attributes(snapshot: Snapshot, cls: Span | None, built: Span | None) -> bool:
    """Whether the generator ``built`` is seeded with nothing but numbers and attributes that only the constructor of the class sets."""
    source = snapshot.source(built.path) if built is not None and built.path in snapshot.contents else None
    call = call_at(snapshot, built) if built is not None else None
    if call is None or cls is None or not isinstance(source, SourceFile):
        return False
    given = [part for each in (*call.args, *(keyword.value for keyword in call.keywords)) for part in ast.walk(each)]
    if any(isinstance(each, ast.Name) and each.id != "self" for each in given):
        return False
    read = {each.attr for each in given if isinstance(each, ast.Attribute)}
    methods = (node for node in walk(source.tree) if isinstance(node, ast.FunctionDef) and node.name != "__init__" and _holds(cls, source.span(node)))
    return not any(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and part.attr in read for node in methods for part in ast.walk(node))


def _holds(outer: Span, inner: Span) -> bool:
    return outer.path == inner.path and outer.start <= inner.start and inner.end <= outer.end


def _is_written(function: Function, given: ast.expr) -> bool:
    match given:
        case ast.Constant(value=int()):
            return True
        case ast.Name(id=name):
            return isinstance(function.module.vars.get(name), int)
    return False


def _draws(function: Function, callee: ast.expr) -> bool:
    dotted = _dotted(function, callee)
    return dotted.startswith(_NUMPY) and dotted.removeprefix(_NUMPY) in _DRAWING


def _dotted(function: Function, node: ast.expr) -> str:
    """What a name stands for in the function's file, with the attributes that are read from it."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            owner = _dotted(function, value)
            return f"{owner}.{attr}" if owner else ""
        case ast.Name(id=name):
            meant = function.module.vars.get(name)
            return meant.dotted if isinstance(meant, External) else ""
    return ""
