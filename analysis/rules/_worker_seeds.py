"""What a ``worker_init_fn`` seeds its worker with. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast

from analysis.interpreter.values import External, Function
from analysis.source import Span

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
