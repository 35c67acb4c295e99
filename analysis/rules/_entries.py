"""Entries of a checkpoint that some code of the program restores a state from. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from functools import lru_cache

from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import frames


def keys_of(save: Event, capture: Event) -> set[str]:
    """The entries in which ``save`` keeps the captured state."""
    return {key for key, value in save.value.items() if value is capture.value and isinstance(key, str)}


def loaded_from(trace: Trace, save: Event, capture: Event) -> Span | None:
    """Where, in a file that the save or the capture passes through, a state is loaded from the entry in which ``save`` keeps the captured one."""
    keys = keys_of(save, capture)
    paths = dict.fromkeys(span.path for event in (save, capture) for span in frames(event) if span.path in trace.snapshot.contents)
    for path in paths:
        source = trace.snapshot.source(path)
        found = _loads(source) if isinstance(source, SourceFile) else {}
        place = next((found[key] for key in sorted(keys & found.keys())), None)
        if place is not None:
            return place
    return None


def reads(trace: Trace, key: str) -> bool:
    """Whether a file that takes part reads an entry called ``key``, or restores states from entries whose names it computes."""
    seen = {span.path for event in trace.events_in_order() for span in (event.span, *event.path[-1:])} | {trace.path}
    sources = (trace.snapshot.source(path) for path in seen if path in trace.snapshot.contents)
    return any(None in found or key in found for source in sources if isinstance(source, SourceFile) for found in (_read(source),))


def counts_on(trace: Trace, keys: set[str]) -> Span | None:
    """Where a file that takes part reads one of the entries ``keys`` and counts on from there: ``range(start, …)`` begins with what it is assigned to."""
    seen = {span.path for event in trace.events_in_order() for span in (event.span, *event.path[-1:])} | {trace.path}
    sources = [source for path in sorted(seen & trace.snapshot.contents.keys()) if isinstance(source := trace.snapshot.source(path), SourceFile)]
    begins = frozenset().union(*(_begins(source) for source in sources))
    for source in sources:
        for key, (name, span) in _counters(source).items():
            if key in keys and name in begins:
                return span
    return None


@lru_cache(maxsize=4096)
def _begins(source: SourceFile) -> frozenset[str]:
    """What ranges begin with: the names, or last parts of dotted names."""
    found: set[str] = set()
    for node in walk(source.tree):
        match node:
            case ast.Call(func=ast.Name(id="range" | "trange"), args=[ast.Name(id=name) | ast.Attribute(attr=name), _, *_]):
                found.add(name)
    return frozenset(found)


@lru_cache(maxsize=4096)
def _counters(source: SourceFile) -> dict[str, tuple[str, Span]]:
    """The entries that are assigned, perhaps plus a number, with the name and the statement."""
    found: dict[str, tuple[str, Span]] = {}
    for node in walk(source.tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
                key = _entry(value.left if isinstance(value, ast.BinOp) else value)
                if key is not None:
                    found.setdefault(key, (name, source.span(node)))
    return found


@lru_cache(maxsize=4096)
def _read(source: SourceFile) -> frozenset[str | None]:
    """The entries that are read; None: a state is restored from an entry whose name is computed."""
    found: set[str | None] = set()
    named = {each.id for node in walk(source.tree) if isinstance(node, ast.For) for each in walk(node.target) if isinstance(each, ast.Name)}
    for node in walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[ast.Subscript(slice=key), *_]) if not isinstance(key, ast.Constant):
                found.add(None)
            case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[ast.Name(id=name), *_]) if name in named:
                found.add(None)
            case ast.Subscript(ctx=ast.Load()) | ast.Call():
                key_read = _entry(node)
                found |= {key_read} if key_read is not None else set()
    return frozenset(found)


@lru_cache(maxsize=4096)
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
