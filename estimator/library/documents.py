"""YAML, JSON and TOML files of the repository, read as data: every value knows the line on which it is written."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import yaml

from analysis.interpreter.files import OpenFile
from analysis.interpreter.values import Call, GuestDict, GuestList, HostFunction, Symbol, Value
from analysis.source import Span

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: Longer documents are data, not configuration; parsing them takes seconds.
MAX_CHARACTERS = 200_000
#: Values made of one document, aliases counted each time: more is a trap.
MAX_VALUES = 20_000
#: Nobody opens more brackets inside each other.
_MAX_DEPTH = 100
_BRACKET = re.compile(r"[][{}]")
_COLLECTIONS = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_MERGE = "tag:yaml.org,2002:merge"


class _TooLargeError(ValueError):
    """The document would unfold to more than anybody writes."""


class _Reader:
    """Makes guest values of one document's nodes."""

    def __init__(self, machine: Machine, text: str, path: str) -> None:
        self.machine = machine
        self.text = text
        self.path = path
        self.loader = yaml.SafeLoader("")
        self.left = MAX_VALUES

    def value(self, node: yaml.Node) -> Value:
        """The guest value of ``node``. Raises ``_TooLargeError`` where aliases unfold without end, ``ValueError`` at a tag of somebody's own."""
        self.left -= 1
        if self.left < 0:
            raise _TooLargeError
        if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTIONS:
            raise ValueError(node.tag)
        match node:
            case yaml.MappingNode():
                return self.mapping(node)
            case yaml.SequenceNode():
                made = GuestList(self.value(item) for item in node.value)
                made.span, made.stamp = self.span(node), ()
                return made
        return self.loader.construct_object(node)

    def mapping(self, node: yaml.MappingNode) -> GuestDict:
        """A dict whose keys know their lines; merged mappings come first, so that the own keys win."""
        made = GuestDict()
        made.span, made.stamp = self.span(node), ()
        for key, value in sorted(node.value, key=lambda pair: pair[0].tag != _MERGE):
            if key.tag == _MERGE:
                for each in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    made.update(self.value(each))
                continue
            name = self.value(key)
            if name.__hash__ is not None:
                made[name] = self.value(value)
                self.machine.places[id(made), name] = self.span(key)
        return made

    def span(self, node: yaml.Node) -> Span:
        """Where the node begins."""
        start = len(self.text[: node.start_mark.index].encode())
        return Span(self.path, start, start + 1)


def _opens(text: str) -> int:
    """How many brackets are open at once at most, those in texts counted too: the parser's time grows with the square of it."""
    deepest = depth = 0
    for character in _BRACKET.findall(text):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def as_yaml(machine: Machine, text: str, path: str) -> Value:
    """A YAML document as guest values; a symbol where it cannot be read."""
    unreadable = Symbol(f"the content of {path or 'a YAML text'}, which cannot be read", machine.span)
    if len(text) > MAX_CHARACTERS or _opens(text) > _MAX_DEPTH:
        return unreadable
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        return None if node is None else _Reader(machine, text, path).value(node)
    except (yaml.YAMLError, _TooLargeError, RecursionError, ValueError):
        return unreadable


def _plain(machine: Machine, text: str, path: str, parsed: Any) -> Value:
    """Values that a parser without positions made: a key's line is the first on which its name stands."""
    match parsed:
        case dict():
            made = GuestDict()
            made.span, made.stamp = machine.span, ()
            for key, value in parsed.items():
                made[key] = _plain(machine, text, path, value)
                at = max(text.find(f'"{key}"'), text.find(f"{key} ="), 0)
                machine.places[id(made), key] = Span(path, len(text[:at].encode()), len(text[:at].encode()) + 1)
            return made
        case list():
            items = GuestList(_plain(machine, text, path, item) for item in parsed)
            items.span, items.stamp = machine.span, ()
            return items
    return parsed


def _text_of(source: Value) -> tuple[str, str] | None:
    """The text of an open file, or a text, and the path it is of."""
    if isinstance(source, OpenFile):
        source = source.text
    return (str(source), getattr(source, "path", "")) if isinstance(source, str) else None


def _read(call: Call, kind: str) -> Value:
    source = call.args[0] if call.args else call.kwargs.get("stream")
    found = _text_of(source)
    if found is None:
        return Symbol(f"the content of a {kind} file that is not in the repository", call.span, call.machine.stamp)
    text, path = found
    return as_yaml(call.machine, text, path) if kind == "YAML" else _parsed(call.machine, text, path, kind)


def _parsed(machine: Machine, text: str, path: str, kind: str) -> Value:
    """A JSON or TOML document as guest values; a symbol where it cannot be read."""
    try:
        parsed = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return Symbol(f"the content of {path or f'a {kind} text'}, which cannot be read", machine.span, machine.stamp)
    return _plain(machine, text, path, parsed)


def of_file(call: Call, name: str) -> Value:
    """The YAML or JSON document in the file of that name; None where it is not in the repository."""
    opened = call.machine.open_file(name, call.span)
    if opened.text is None:
        return None
    text, path = str(opened.text), opened.text.path
    return as_yaml(call.machine, text, path) if path.endswith((".yaml", ".yml")) else _parsed(call.machine, text, path, "JSON")


def _of_kind(kind: str) -> HostFunction:
    return HostFunction(f"the reading of a {kind} file", lambda call: _read(call, kind))


def yaml_of_file(call: Call) -> Value:
    """The document in the file of that name."""
    opened = call.machine.open_file(call.args[0], call.span)
    if opened.text is None:
        return Symbol(f"the content of {call.args[0]!r}, which is not in the repository", call.span, call.machine.stamp)
    return as_yaml(call.machine, opened.text, opened.text.path)


_YAML, _JSON, _TOML = (_of_kind(kind) for kind in ("YAML", "JSON", "TOML"))
NAMES: dict[str, Any] = {
    **{f"yaml.{name}": _YAML for name in ("safe_load", "load", "full_load", "unsafe_load")},
    "json.load": _JSON, "json.loads": _JSON, "tomllib.load": _TOML, "tomllib.loads": _TOML,
    **{f"{library}.{name}": _TOML for library in ("toml", "tomli") for name in ("load", "loads")},
    "preflight_host.yaml_of_file": HostFunction("yaml_of_file", yaml_of_file),
}  # fmt: skip
