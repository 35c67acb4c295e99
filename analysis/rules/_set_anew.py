"""State of a layer that nobody is seen to use, and methods that may set it anew before each batch. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
import re

from analysis.interpreter.values import Function, Instance
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import visible
from analysis.trace.reading import around, span_of


def may_begin_anew(trace: Trace, store: Event, backward: Event) -> bool:
    """Whether the loop is an imagined one over a layer or what holds it, and something that it does not know to call sets the slot: a method, or other code."""
    holder, key = store.subject, store.detail.key
    if not _is_a_class(trace, visible(backward, trace.snapshot.contents)):
        return False
    if _is_set_from_outside(trace, store):
        return True
    if not isinstance(holder, Instance):
        return False
    runs, files = store.context.function.rpartition(".")[2], trace.snapshot.contents
    hooks = {name for base in holder.cls.mro if base.span is None or base.span.path not in files for name in base.namespace}  # the loop calls those
    others = (value.node for name, value in holder.cls.namespace.items() if isinstance(value, Function) and name not in {"__init__", runs} | hooks)
    return any(isinstance(node, ast.Attribute) and node.attr == key and isinstance(node.ctx, ast.Store) for method in others for node in walk(method))


def _is_set_from_outside(trace: Trace, store: Event) -> bool:
    """Whether code somewhere sets an attribute of another object that is called as one that the storing statement names on its own."""
    stands = around(trace.snapshot, store.span) if store.span.path in trace.snapshot.contents else None
    nodes = walk(stands.statement) if stands is not None and stands.statement is not None else ()
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"}
    if not names:
        return False
    outside = re.compile(rf"\b(?!self\b)\w+\.(?:{'|'.join(sorted(names))})\s*=[^=]".encode())
    return any(outside.search(raw) for path, raw in trace.snapshot.contents.items() if path.endswith(".py"))


def _is_a_class(trace: Trace, place: Span) -> bool:
    """Whether the place is a whole class: an imagined loop over its objects stands there."""
    stands = around(trace.snapshot, place)
    statement = stands.statement if stands is not None else None
    return isinstance(statement, ast.ClassDef) and span_of(trace.snapshot, place.path, statement) == place
