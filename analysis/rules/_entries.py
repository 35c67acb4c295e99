"""Entries of a checkpoint that some code of the program restores a state from. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from functools import lru_cache

from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import frames


def loaded_from(trace: Trace, save: Event, capture: Event) -> Span | None:
    """Where, in a file that the save or the capture passes through, a state is loaded from the entry in which ``save`` keeps the captured one."""
    keys = {key for key, value in save.value.items() if value is capture.value and isinstance(key, str)}
    paths = dict.fromkeys(span.path for event in (save, capture) for span in frames(event) if span.path in trace.snapshot.contents)
    for path in paths:
        source = trace.snapshot.source(path)
        found = _loads(source) if isinstance(source, SourceFile) else {}
        place = next((found[key] for key in sorted(keys & found.keys())), None)
        if place is not None:
            return place
    return None


@lru_cache(maxsize=256)
def _loads(source: SourceFile) -> dict[str, Span]:
    """The entries whose content goes to a ``load_state_dict``, with the call."""
    found: dict[str, Span] = {}
    for node in walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[given, *_]):
                key = _entry(given)
                if key is not None:
                    found.setdefault(key, source.span(node))
    return found


def _entry(node: ast.expr) -> str | None:
    """``key`` of ``state["key"]`` and of ``state.get("key", …)``."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str(key)), *_]):
            return key
    return None
