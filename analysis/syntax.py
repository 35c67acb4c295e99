"""The nodes inside a syntax node, without contexts and operators: every file is walked several times, and ``ast.walk`` is slow at it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: Fields that hold no node, or one that says nothing by itself.
_PLAIN = frozenset({"ctx", "op", "ops", "id", "attr", "arg", "kind", "lineno", "type_comment", "module", "level", "asname", "conversion", "simple", "is_async"})


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of a kind of node that may hold nodes; a name and a constant hold none."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if kind in {ast.Name, ast.Constant, ast.alias} else tuple(name for name in kind._fields if name not in _PLAIN)
        self[kind] = fields
        return fields


_FIELDS = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside ``node``, in the order of its fields."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if not value:
            continue
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and all nodes inside it, the outer ones first; those of a file are kept on its tree, since many ask for them."""
    if not isinstance(node, ast.Module):
        return _walk(node)
    try:
        kept = node.preflight_nodes  # type: ignore[attr-defined]  # syntax nodes take attributes
    except AttributeError:
        kept = node.preflight_nodes = tuple(_walk(node))  # type: ignore[attr-defined]  # as above
    return iter(kept)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    found = [node]
    for each in found:  # which grows while it is gone through
        if _FIELDS[type(each)]:
            found += children(each)
        yield each
