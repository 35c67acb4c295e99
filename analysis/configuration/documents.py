"""YAML, JSON and TOML files of the repository, read as data: every value knows the line on which it is written."""

from __future__ import annotations

import json
import re
import tomllib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

from analysis.configuration.meant import ENDINGS, OpenMapping, common, meant_files
from analysis.interpreter.files import OpenFile
from analysis.interpreter.open_dict import OpenDict
from analysis.interpreter.values import Call, GuestDict, GuestList, Symbol, Value
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
#: A dotted name of a class or function, and the ends of what is a file's name.
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_FILES = (".yaml", ".yml", ".json", ".toml", ".txt", ".csv", ".pt", ".pth", ".ckpt", ".py", ".bin", ".log")
_MERGE = "tag:yaml.org,2002:merge"


class _TooLargeError(ValueError):
    """The document would unfold to more than anybody writes."""


class Reader:
    """Makes guest values of one document's nodes."""

    def __init__(self, machine: Machine, text: str, path: str) -> None:
        self.machine = machine
        self.text = text
        self.path = path
        self.loader = yaml.SafeLoader("")
        self.left = MAX_VALUES
        #: Inside a mapping that names a class: its arguments are what is written, whoever runs the program.
        self.literal = False

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
        made = self.empty(node)
        made.span, made.stamp = self.span(node), ()
        outer, self.literal = self.literal, self.literal or any(_names_class(value) for _, value in node.value)
        for key, value in sorted(node.value, key=lambda pair: pair[0].tag != _MERGE):
            if key.tag == _MERGE:
                for each in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    made.update(self.value(each))
                continue
            name = self.value(key)
            if name.__hash__ is not None:
                given = self.value(value)
                made[name] = given if self.literal else self.machine.domain.setting(self.machine, name, given, self.span(key))
                self.machine.places[id(made), name] = self.span(key)
        self.literal = outer
        return made

    def empty(self, node: yaml.MappingNode) -> GuestDict:
        """The dict that a mapping fills; any other key may be in one that is open."""
        if not isinstance(node, OpenMapping):
            return GuestDict()
        rest = self.machine.domain.unknown(self.machine, f"settings of {self.path} or another file", self.span(node))
        return OpenDict({}, rest) if isinstance(rest, Symbol) else GuestDict()

    def span(self, node: yaml.Node) -> Span:
        """Where the node begins."""
        start = len(self.text[: node.start_mark.index].encode())
        return Span(self.path, start, start + 1)


def _names_class(node: yaml.Node) -> bool:
    """Whether it is the dotted name of something to be made."""
    return isinstance(node, yaml.ScalarNode) and _DOTTED.fullmatch(node.value) is not None and not node.value.endswith(_FILES)


def _opens(text: str) -> int:
    """How many brackets are open at once at most, those in texts counted too: the parser's time grows with the square of it."""
    deepest = depth = 0
    for character in _BRACKET.findall(text):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def as_yaml(machine: Machine, text: str, path: str) -> Value:
    """A YAML document as guest values; a symbol where it cannot be read."""
    try:
        return made_of(composed(text), Reader(machine, text, path))
    except (yaml.YAMLError, RecursionError, ValueError):
        return machine.domain.unknown(machine, f"the content of {path or 'a YAML text'}, which cannot be read", machine.span)


def made_of(node: yaml.Node | None, reader: Reader) -> Value:
    """What a document's node stands for; a symbol where it cannot be read."""
    try:
        return None if node is None else reader.value(node)
    except (yaml.YAMLError, RecursionError, ValueError):
        why = f"the content of {reader.path or 'a YAML text'}, which cannot be read"
        return reader.machine.domain.unknown(reader.machine, why, reader.machine.span)


def document_of(machine: Machine, source: Value) -> tuple[yaml.Node | None, str, str] | None:
    """The node, the text and the path of a YAML document: of an open file or a text; in a trace, of what the program may mean. None: not known.

    Raises yaml.YAMLError, ValueError or RecursionError where it cannot be read.
    """
    found = text_of(source)
    if found is not None:
        return composed(found[0]), *found
    paths = meant_files(machine) if machine.domain.watches_stores else []
    texts = [machine.snapshot.contents[path].decode("utf-8", "replace") for path in paths]
    nodes = [composed(text) for text in texts]
    node = nodes[0] if nodes else None
    for other in nodes[1:]:
        node = None if node is None or other is None else common(node, other)
    return None if node is None else (node, texts[0], paths[0])


@lru_cache(maxsize=64)
def composed(text: str) -> yaml.Node | None:
    """The nodes of a document: parsing is what takes time, and each run of a program asks again. Raises as the parser does."""
    if len(text) > MAX_CHARACTERS or _opens(text) > _MAX_DEPTH:
        raise _TooLargeError
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _plain(machine: Machine, text: str, path: str, parsed: Any) -> Value:
    """Values that a parser without positions made: a key's line is the first on which its name stands."""
    match parsed:
        case dict():
            made = GuestDict()
            made.span, made.stamp = machine.span, ()
            for key, value in parsed.items():
                at = max(text.find(f'"{key}"'), text.find(f"{key} ="), 0)
                span = machine.places[id(made), key] = Span(path, len(text[:at].encode()), len(text[:at].encode()) + 1)
                made[key] = machine.domain.setting(machine, key, _plain(machine, text, path, value), span)
            return made
        case list():
            items = GuestList(_plain(machine, text, path, item) for item in parsed)
            items.span, items.stamp = machine.span, ()
            return items
    return parsed


def text_of(source: Value) -> tuple[str, str] | None:
    """The text of an open file, or a text, and the path it is of."""
    if isinstance(source, OpenFile):
        source = source.text
    return (str(source), getattr(source, "path", "")) if isinstance(source, str) else None


def read(call: Call, kind: str) -> Value:
    """The document of ``kind`` ("YAML", "JSON", "TOML") in the open file, or the text, that is the call's first argument."""
    source = call.args[0] if call.args else call.kwargs.get("stream")
    if kind == "YAML":
        return yaml_document(call.machine, source)
    found = text_of(source)
    if found is None:
        return call.machine.domain.unknown(call.machine, f"the content of a {kind} file that is not in the repository", call.span)
    text, path = found
    parsed, hook = _parsed(call.machine, text, path, kind), call.kwargs.get("object_hook")
    return parsed if hook is None else _hooked(call, hook, parsed)


def _hooked(call: Call, hook: Value, value: Value) -> Value:
    """A document of whose tables a function makes something, the innermost first."""
    match value:
        case dict():
            inner = GuestDict({key: _hooked(call, hook, item) for key, item in value.items()})
            return call.machine.call(hook, [inner], {}, call.span)
        case list():
            return GuestList(_hooked(call, hook, item) for item in value)
    return value


def yaml_document(machine: Machine, source: Value) -> Value:
    """The document of a file or a text, or what the files that may be meant have in common."""
    try:
        found = document_of(machine, source)
    except (yaml.YAMLError, RecursionError, ValueError):
        return machine.domain.unknown(machine, "the content of a YAML text, which cannot be read", machine.span)
    if found is None:
        name = f"{source.name!r}, which" if isinstance(source, OpenFile) and source.name.endswith(ENDINGS) else "a YAML file that"
        return machine.domain.unknown(machine, f"the content of {name} is not in the repository", machine.span)
    return made_of(found[0], Reader(machine, found[1], found[2]))


def _parsed(machine: Machine, text: str, path: str, kind: str) -> Value:
    """A JSON or TOML document as guest values; a symbol where it cannot be read."""
    try:
        parsed = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError):
        return machine.domain.unknown(machine, f"the content of {path or f'a {kind} text'}, which cannot be read", machine.span)
    return _plain(machine, text, path, parsed)


def of_file(call: Call, name: str) -> Value:
    """The YAML or JSON document in the file of that name; None where it is not in the repository."""
    opened = call.machine.open_file(name, call.span)
    if opened.text is None:
        return None
    text, path = str(opened.text), opened.text.path
    return as_yaml(call.machine, text, path) if path.endswith((".yaml", ".yml")) else _parsed(call.machine, text, path, "JSON")


#: Functions that read a document, and of which kind it is.
READERS = {
    **dict.fromkeys(("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load"), "YAML"),
    "json.load": "JSON", "json.loads": "JSON", "tomllib.load": "TOML", "tomllib.loads": "TOML",
    **{f"{library}.{name}": "TOML" for library in ("toml", "tomli") for name in ("load", "loads")},
}  # fmt: skip
