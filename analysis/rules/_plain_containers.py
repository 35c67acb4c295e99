"""Lists, tuples and dictionaries in which a module keeps layers of its own. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.interpreter.values import GuestDict, GuestList, Instance, Value
from analysis.library.ownership import CHILDREN, is_module, modules_in
from analysis.library.tensor import Parameter
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.syntax import walk

#: A container that PyTorch does not look into.
Plain = GuestList | GuestDict | tuple[Value, ...]
_MOST = 64


def plain_containers(snapshot: Snapshot, model: Instance) -> Iterator[tuple[Plain, Span]]:
    """Those with layers or parameters in them, in the attributes of a model and of what is registered in it, with where each was made."""
    for module in modules_in(model):
        for name, value in module.fields.items():
            if name == CHILDREN or not isinstance(value, (GuestList, GuestDict, tuple)) or not any(True for _ in parts_in(value)):
                continue
            span = _assigned(snapshot, module, name) if isinstance(value, tuple) else value.span
            if span is not None and span.path in snapshot.contents:
                yield value, span


def parts_in(held: Plain) -> Iterator[Instance | Parameter]:
    """The layers and parameters in a container, and in the containers that it holds."""
    for value in list(held.values() if isinstance(held, dict) else held)[:_MOST]:
        if _is_part(value):
            yield value
        elif isinstance(value, (GuestList, tuple)):
            yield from (each for each in value if _is_part(each))


def _is_part(value: Value) -> bool:
    return is_module(value) or isinstance(value, Parameter)


def _assigned(snapshot: Snapshot, module: Instance, name: str) -> Span | None:
    """What the classes of a module assign to ``self.name``, if that is one expression: a tuple does not know where it was made."""
    found = [span for cls in module.cls.mro if cls.span is not None for span in _assignments(snapshot, cls.span, name)]
    return found[0] if len(found) == 1 else None


def _assignments(snapshot: Snapshot, cls: Span, name: str) -> Iterator[Span]:
    source = snapshot.source(cls.path) if cls.path in snapshot.contents else None
    if not isinstance(source, SourceFile):
        return
    for node in walk(source.tree):
        whole = source.span(node) if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and whole is not None and cls.start <= whole.start and whole.end <= cls.end:
            match node.targets:
                case [ast.Attribute(value=ast.Name(id="self"), attr=written)] if written == name and not _hides(node.value):
                    yield source.span(node.value)


def _hides(value: ast.expr) -> bool:
    """Whether it is ``(module,)``: one module in a tuple of its own is kept out of sight on purpose."""
    return isinstance(value, ast.Tuple) and len(value.elts) == 1
