"""Which names of a function are its own, shared with an inner function, or free: decided once per syntax node.

Capturing only the cells that an inner function uses keeps lifetimes as CPython has them: the tape counts on it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from analysis.syntax import children

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Names:
    """``local`` names bound here, ``shared`` those of them that inner functions use, ``free`` those taken from outside."""

    local: frozenset[str]
    shared: frozenset[str]
    free: frozenset[str]
    is_generator: bool


#: The attribute of a syntax node that holds what was found out about it.
_FOUND = "names_of_function"


def names_of(node: FunctionNode) -> Names:
    """The names of ``node``, found out once per node: sources of libraries are read once and run often."""
    known: Names | None = getattr(node, _FOUND, None)
    if known is None:
        known = _names_of(node)
        setattr(node, _FOUND, known)
    return known


def _names_of(node: FunctionNode) -> Names:
    """Comprehensions count as part of the function: their targets live in a frame of their own while they run."""
    bound: set[str] = {argument.arg for argument in _arguments(node.args)}
    used: set[str] = set()
    outer: set[str] = set()
    inner_free: set[str] = set()
    generator = False
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    stack: list[ast.AST] = list(body)
    while stack:
        current = stack.pop()
        match current:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name):
                bound.add(name)
            case ast.Global(names=names):
                outer.update(names)
            case ast.Nonlocal(names=names):
                outer.update(names)
                used.update(names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inner_free |= names_of(current).free
                if not isinstance(current, ast.Lambda):
                    bound.add(current.name)
                    stack.extend(current.decorator_list)
                stack.extend([*current.args.defaults, *(d for d in current.args.kw_defaults if d is not None)])
                continue
            case ast.ClassDef(name=name):
                bound.add(name)
                inner_free |= _class_free(current)
                stack.extend([*current.bases, *(k.value for k in current.keywords), *current.decorator_list])
                continue
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                bound.update((alias.asname or alias.name).split(".")[0] for alias in aliases)
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.Yield() | ast.YieldFrom():
                generator = True
        stack.extend(children(current))
    local = bound - outer
    return Names(frozenset(local), frozenset(local & inner_free), frozenset((used | inner_free) - local), generator)


def _class_free(node: ast.ClassDef) -> set[str]:
    """Names that a class body takes from the function around it."""
    free: set[str] = set()
    stack: list[ast.AST] = list(node.body)
    while stack:
        current = stack.pop()
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            free |= names_of(current).free
            if not isinstance(current, ast.Lambda):
                stack.extend(current.decorator_list)
            stack.extend([*current.args.defaults, *(d for d in current.args.kw_defaults if d is not None)])
            continue
        if isinstance(current, ast.Name):
            free.add(current.id)
        stack.extend(children(current))
    return free


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    star = [arguments.vararg] if arguments.vararg else []
    double = [arguments.kwarg] if arguments.kwarg else []
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *star, *double]
