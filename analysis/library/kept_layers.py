"""Classes that keep layers in a plain list or dictionary and go through it: whether the layers learn shows only in a loop that trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def keeps_layers(cls: ast.ClassDef) -> bool:
    """Whether an attribute of ``cls`` is a plain container of new objects, or one that is filled outside ``forward``, whose items are used."""
    kept = set(_kept(cls))
    return bool(kept) and not kept.isdisjoint(_gone_through(cls))


def _kept(cls: ast.ClassDef) -> Iterator[str]:
    """Attributes that are set to a plain container."""
    filled = set(_filled(cls))
    for node in ast.walk(cls):
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value) if value is not None:
                name = _attribute(target)
                if name and (any(_makes(part) for part in _parts(value)) or (name in filled and _is_empty(value))):
                    yield name


def _parts(value: ast.expr) -> list[ast.expr]:
    match value:
        case ast.List(elts=parts):
            return parts
        case ast.ListComp(elt=part) | ast.DictComp(value=part):
            return [part]
        case ast.Dict(values=parts):
            return parts
    return []


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, (ast.List, ast.Dict)) and not _parts(value)


def _makes(value: ast.expr) -> bool:
    """Whether it looks like the making of an object of some class."""
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name[:1].isupper()
    return False


def _filled(cls: ast.ClassDef) -> Iterator[str]:
    """Attributes that something is added to while the object is made."""
    for method in cls.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            for node in ast.walk(method):
                match node:
                    case ast.Call(func=ast.Attribute(value=owner, attr="append")) | ast.Assign(targets=[ast.Subscript(value=owner)]):
                        yield _attribute(owner)


def _gone_through(cls: ast.ClassDef) -> Iterator[str]:
    """Attributes over which a loop runs, or of which one item is taken."""
    for node in ast.walk(cls):
        match node:
            case ast.For(iter=over) | ast.comprehension(iter=over):
                yield from (_attribute(each) for each in ast.walk(over) if isinstance(each, ast.Attribute))
            case ast.Subscript(value=owner, ctx=ast.Load()):
                yield _attribute(owner)


def _attribute(node: ast.expr) -> str:
    """``name`` of ``self.name``, else nothing."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""
