"""Modules that are worth a loop of their own, though no trace reached them: what they keep, or ask other ranks for, shows only there."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.library.kept_layers import keeps_layers
from analysis.library.options import questions
from analysis.source import NotAnalysed, SourceFile
from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.library.entries import Entry
    from analysis.snapshot import Snapshot

#: Functions by which a module takes in what other ranks have.
_COLLECTIVES = frozenset({"all_reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter"})


def has_more_to_show(snapshot: Snapshot, entry: Entry) -> bool:
    """Whether the class's ``forward`` writes to the object itself or asks other ranks, or it keeps layers of its own."""
    node, source = _class(snapshot, entry), snapshot.source(entry.path)
    forward = None if node is None else _forward(node)
    if node is None or isinstance(source, NotAnalysed) or node.name in _for_inference(source):
        return False
    return forward is not None and (_writes_self(forward) or _asks_ranks(forward) or keeps_layers(node))


def has_options_to_show(snapshot: Snapshot, entry: Entry) -> bool:
    """Whether an option decides what ``forward`` does that may matter: whoever was traced may have left it off.

    It asks other ranks or keeps layers of its own, and an option is off by default; it writes to the object itself; it asks whether it was given
    what is absent by default.
    """
    node = _class(snapshot, entry)
    forward = None if node is None else _forward(node)
    if node is None or forward is None:
        return False
    optional = any(map(_is_off, _defaults(node))) and (_asks_ranks(forward) or keeps_layers(node))
    return optional or _writes_self(forward) or any(True for _ in questions(forward))


def _class(snapshot: Snapshot, entry: Entry) -> ast.ClassDef | None:
    source = snapshot.source(entry.path)
    if isinstance(source, NotAnalysed):
        return None
    return _classes(source).get(entry.qualname.rpartition(".")[2])


@lru_cache(maxsize=4096)
def _classes(file: SourceFile) -> dict[str, ast.ClassDef]:
    """The classes of a file by name, the outermost of each name; there may be thousands."""
    found: dict[str, ast.ClassDef] = {}
    for node in walk(file.tree):
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, node)
    return found


@lru_cache(maxsize=4096)
def _for_inference(file: SourceFile) -> frozenset[str]:
    """The classes of a file whose ``forward`` itself switches gradients off, and those that these are made of."""
    classes = _classes(file)
    todo = [node for node in classes.values() if (forward := _forward(node)) is not None and any(map(_switches_off, forward.decorator_list))]
    found: set[str] = set()
    while todo:
        node = todo.pop()
        if node.name not in found:
            found.add(node.name)
            todo.extend(classes[each.id] for each in walk(node) if isinstance(each, ast.Name) and each.id in classes)
    return frozenset(found)


def _switches_off(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in {"inference_mode", "no_grad"}


def _forward(node: ast.ClassDef) -> ast.FunctionDef | None:
    return next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "forward"), None)


def _defaults(node: ast.ClassDef) -> list[ast.expr | None]:
    init = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    return [] if init is None else [*init.args.defaults, *init.args.kw_defaults]


def _is_off(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and default.value is False


def _asks_ranks(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _COLLECTIVES for node in walk(function))


def _writes_self(function: ast.FunctionDef) -> bool:
    for node in walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")), attr="append" | "add" | "extend" | "update")):
                return True
    return False
