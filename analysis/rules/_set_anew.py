"""State of a layer that nobody is seen to use, and methods that may set it anew before each batch. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast

from analysis.interpreter.values import Function, Instance
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import visible
from analysis.trace.reading import around, span_of


def may_begin_anew(trace: Trace, store: Event, backward: Event) -> bool:
    """Whether the loop is an imagined one over a layer or what holds it, and a method that it does not know to call sets the slot."""
    holder, key = store.subject, store.detail.key
    if not isinstance(holder, Instance) or not _is_a_class(trace, visible(backward, trace.snapshot.contents)):
        return False
    runs, files = store.context.function.rpartition(".")[2], trace.snapshot.contents
    hooks = {name for base in holder.cls.mro if base.span is None or base.span.path not in files for name in base.namespace}  # the loop calls those
    others = (value.node for name, value in holder.cls.namespace.items() if isinstance(value, Function) and name not in {"__init__", runs} | hooks)
    return any(isinstance(node, ast.Attribute) and node.attr == key and isinstance(node.ctx, ast.Store) for method in others for node in walk(method))


def _is_a_class(trace: Trace, place: Span) -> bool:
    """Whether the place is a whole class: an imagined loop over its objects stands there."""
    stands = around(trace.snapshot, place)
    statement = stands.statement if stands is not None else None
    return isinstance(statement, ast.ClassDef) and span_of(trace.snapshot, place.path, statement) == place
