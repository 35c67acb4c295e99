"""Which files a program may mean that is told only when it is launched what configures it: what they all say is known, the rest is open.

They stand below the folder of the script, and are those whose settings it names most; among these, what the program names most.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: How the names of YAML files end.
ENDINGS = (".yaml", ".yml")
_KEY = re.compile(rb"^([A-Za-z_]\w*)\s*:", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w+")
#: Longer files are data.
_MAX_BYTES = 40_000
#: Files that are looked at, and those of which the common part is taken.
_MOST_FILES, _MOST_MEANT = 200, 8
#: Nodes of two documents that are compared, aliases counted each time.
_MOST_NODES = 5_000
#: So many of its settings the script has to name: one or two any file has.
_LEAST = 3


class OpenMapping(yaml.MappingNode):
    """A mapping of which only the keys are known that all of several documents have."""


def meant_files(machine: Machine) -> list[str]:
    """The YAML files that the entry script may be launched with, sorted; none if what has been loaded names the settings of none."""
    contents = machine.snapshot.contents
    folder = posixpath.dirname(machine.entry_path)
    below = f"{folder}/" if folder else ""
    found = [path for path in sorted(contents) if path.startswith(below) and path.endswith(ENDINGS) and "/." not in f"/{path}"]
    words = frozenset[bytes]().union(*(_words(module.file.content) for module in machine.loaded.values()))
    own = _words(contents.get(machine.entry_path, b""))
    keys = {path: frozenset(_KEY.findall(raw)) for path in found[:_MOST_FILES] if len(raw := contents[path]) <= _MAX_BYTES}
    asked = {path: (_enough(len(own & each)), len(words & each)) for path, each in keys.items()}
    most = max(asked.values(), default=(0, 0))
    return [path for path, counts in asked.items() if counts == most and most[1] >= _LEAST][:_MOST_MEANT]


def _enough(named: int) -> int:
    """``named`` settings of a file, where they tell it from others."""
    return named if named >= _LEAST else 0


@lru_cache(maxsize=4096)
def _words(source: bytes) -> frozenset[bytes]:
    """The names in a file, and the words of its texts."""
    return frozenset(_WORD.findall(source))


def common(left: yaml.Node, right: yaml.Node) -> yaml.Node | None:
    """What two documents both say, with the places of the first; None if that is nothing, or their aliases unfold without end."""
    return _Common().of(left, right)


class _Common:
    """One comparison; ``left`` is how many nodes may still be compared."""

    def __init__(self) -> None:
        self.left = _MOST_NODES

    def of(self, one: yaml.Node, other: yaml.Node) -> yaml.Node | None:
        """What both say."""
        self.left -= 1
        if one.tag != other.tag or self.left < 0:
            return None
        match one, other:
            case yaml.MappingNode(), yaml.MappingNode():
                return self._mapping(one, other)
            case yaml.SequenceNode(), yaml.SequenceNode():
                items = [self.of(a, b) for a, b in zip(one.value, other.value, strict=False)]
                alike = len(one.value) == len(other.value) and not any(each is None or isinstance(each, OpenMapping) for each in items)
                return one if alike else None
        return one if one.value == other.value else None

    def _mapping(self, one: yaml.MappingNode, other: yaml.MappingNode) -> yaml.MappingNode:
        others = {key.value: value for key, value in other.value if isinstance(key, yaml.ScalarNode)}
        mine = [(key, value) for key, value in one.value if isinstance(key, yaml.ScalarNode) and key.value in others]
        pairs = [(key, both) for key, value in mine if (both := self.of(value, others[key.value])) is not None]
        inside = any(isinstance(value, OpenMapping) for _, value in pairs)
        closed = len(pairs) == len(one.value) == len(other.value) and not inside and not isinstance(one, OpenMapping)
        return one if closed else OpenMapping(one.tag, pairs, one.start_mark, one.end_mark)
