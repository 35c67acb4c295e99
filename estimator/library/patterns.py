"""``re`` on texts that are known: names decide which layers and files are meant. A pattern that might take for ever is not tried."""

from __future__ import annotations

import re
from math import comb
from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import Call, GuestList, HostFunction, HostValue, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

_LONGEST_PATTERN = 200
#: Ways to divide a text between the repetitions of a pattern that may have to be tried, and the longest text.
_MOST_WAYS = 10_000_000
_LONGEST_TEXT = 1 << 14
_METHODS = ("match", "fullmatch", "search", "findall", "split", "sub")
_NO_TEXT = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]")


def may_be_tried(pattern: str, text: str) -> bool:
    """Whether matching is sure to end soon: nothing repeated is repeated, and little enough is repeated at all."""
    if len(pattern) > _LONGEST_PATTERN or len(text) > _LONGEST_TEXT or re.search(r"\)[*+{]", pattern):
        return False
    repetitions = sum(_NO_TEXT.sub("x", pattern).count(mark) for mark in "*+{")
    return comb(len(text) + repetitions, repetitions) <= _MOST_WAYS


class Found(HostValue):
    """A match."""

    __slots__ = ("match",)

    def __init__(self, match: re.Match[str]) -> None:
        self.match = match

    def __getitem__(self, group: Any) -> Any:
        return self.match[group]

    def group(self, *groups: Any) -> Any:
        """What a group matched."""
        return self.match.group(*groups)

    def groups(self, default: Any = None) -> Any:
        """What the groups matched."""
        return self.match.groups(default)

    def groupdict(self, default: Any = None) -> dict[str, Any]:
        """What the named groups matched."""
        return self.match.groupdict(default)

    def start(self, group: Any = 0) -> int:
        """Where a group begins."""
        return self.match.start(group)

    def end(self, group: Any = 0) -> int:
        """Where it ends."""
        return self.match.end(group)


class Pattern(HostValue):
    """A compiled pattern."""

    __slots__ = ("flags", "machine", "pattern")

    def __init__(self, machine: Machine, pattern: str, flags: int) -> None:
        self.machine = machine
        self.pattern = pattern
        self.flags = flags

    def match(self, text: Any, *_: Any) -> Value:
        """At the beginning."""
        return self._tried("match", (text,))

    def fullmatch(self, text: Any, *_: Any) -> Value:
        """The whole."""
        return self._tried("fullmatch", (text,))

    def search(self, text: Any, *_: Any) -> Value:
        """Anywhere."""
        return self._tried("search", (text,))

    def findall(self, text: Any, *_: Any) -> Value:
        """Everywhere."""
        return self._tried("findall", (text,))

    def split(self, text: Any, *_: Any) -> Value:
        """What stands between."""
        return self._tried("split", (text,))

    def sub(self, replacement: Any, text: Any, *_: Any) -> Value:
        """Something else in its place."""
        return self._tried("sub", (replacement, text))

    def _tried(self, method: str, texts: tuple[Any, ...]) -> Value:
        unknown = Symbol(f"re.{method}(…)", self.machine.span, self.machine.stamp)
        if not all(isinstance(text, str) for text in texts) or not may_be_tried(self.pattern, texts[-1]):
            return unknown
        try:
            found = getattr(re.compile(self.pattern, self.flags), method)(*texts)
        except (re.error, IndexError):
            return unknown
        return Found(found) if isinstance(found, re.Match) else GuestList(found) if isinstance(found, list) else found


def _compiled(call: Call) -> Value:
    pattern, flags = call.args[0], call.get(1, "flags", 0)
    if isinstance(pattern, Pattern):
        return pattern
    if not isinstance(pattern, str) or not isinstance(flags, int):
        return Symbol("re.compile(…)", call.span, call.machine.stamp)
    return Pattern(call.machine, pattern, flags)


def _function(method: str) -> HostFunction:
    """``re.match`` and its kin: of a pattern that is compiled in passing; counts are not followed."""
    texts = 2 if method == "sub" else 1

    def run(call: Call) -> Value:
        flags = call.get(texts + 1, "flags", 0) if method not in {"split", "sub"} else call.kwargs.get("flags", 0)
        made = _compiled(Call(call.machine, [call.args[0], flags], {}, call.span))
        whole = len(call.args) > texts and not ({"count", "maxsplit"} & set(call.kwargs) or (method in {"split", "sub"} and len(call.args) > texts + 1))
        return getattr(made, method)(*call.args[1:]) if isinstance(made, Pattern) and whole else Symbol(f"re.{method}(…)", call.span, call.machine.stamp)

    return HostFunction(f"re.{method}", run)


NAMES: dict[str, Value] = {
    "re.compile": HostFunction("re.compile", _compiled),
    "re.escape": HostFunction("re.escape", lambda call: re.escape(call.args[0]) if isinstance(call.args[0], str) else Symbol("re.escape(…)", call.span)),
    **{f"re.{method}": _function(method) for method in _METHODS},
    **{f"re.{name}": int(getattr(re, name)) for name in ("I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE", "A", "ASCII", "U", "UNICODE")},
}
