"""Where a value that arrived at a model is written in the repository: the line that names it, in the files that the run loaded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from analysis.certainty import Place
from analysis.source import SourceFile
from analysis.syntax import walk

#: What people call the fields of a configuration.
NAMES = {
    "batch_size": re.compile(r"(?i)(?:^|_)(?:batch(?:_?size)?|bs|b)$|^(?:train_|per_device_train_|micro_?|mini_?)batch|batchsize"),
    "sequence_length": re.compile(r"(?i)block_?size|seq(?:uence)?_?len|max_?len|max_(?:seq_)?length|context|n_?ctx|bptt|^t$|n_positions"),
    "image_size": re.compile(r"(?i)(?:img|image|crop|input)_?(?:size|dim|res)|resolution|^size$|img_?sz"),
}


def written_at(sources: Sequence[SourceFile], field: str, value: Any) -> Place | None:
    """The line that gives ``value`` a name of that field; None where none or several do. The first file with one decides, and in it a global."""
    for source in sources:
        for named in (_named_globals(source), _named_constants(source)):
            given = (node for name, node in named if type(node.value) is type(value) and node.value == value and NAMES[field].search(name))
            places = list(dict.fromkeys(source.place(source.span(node)) for node in given))
            if places:
                return places[0] if len(places) == 1 else None
    return None


def called_at(sources: Sequence[SourceFile], name: str) -> Place | None:
    """The first line on which something of that name is called, or an argument of that name is given."""
    for source in sources:
        for node in walk(source.tree):
            match node:
                case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if called == name:
                    return source.place(source.span(node))
                case ast.keyword(arg=given) if given == name:
                    return source.place(source.span(node.value))
    return None


@lru_cache(maxsize=64)
def _named_globals(source: SourceFile) -> tuple[tuple[str, ast.Constant], ...]:
    return _constants(node for node in source.tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)))


@lru_cache(maxsize=64)
def _named_constants(source: SourceFile) -> tuple[tuple[str, ast.Constant], ...]:
    return _constants(walk(source.tree))


def _constants(nodes: Iterable[ast.AST]) -> tuple[tuple[str, ast.Constant], ...]:
    return tuple((name, value) for node in nodes for name, value in _named(node) if isinstance(value, ast.Constant))


def _named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and the expressions that give them their values: an assignment, a field, arguments' defaults, a keyword, a command line option."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
            yield name, value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            yield from ((each.id, value) for each, value in zip(names, values, strict=True) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=ast.expr() as value):
            yield name, value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            yield from ((key.value, value) for key, value in zip(keys, values, strict=True) if isinstance(key, ast.Constant) and isinstance(key.value, str))
        case ast.arguments():
            yield from _defaults(node)
        case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*_, ast.Constant(value=str(flag))], keywords=keywords):
            yield from ((flag.lstrip("-").replace("-", "_"), keyword.value) for keyword in keywords if keyword.arg == "default")


def _defaults(node: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    ordered = [*node.posonlyargs, *node.args]
    yield from ((argument.arg, default) for argument, default in zip(ordered[len(ordered) - len(node.defaults) :], node.defaults, strict=True))
    yield from ((argument.arg, default) for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True) if default is not None)
