"""Kinds of unknown values that the tape tells apart."""

from __future__ import annotations

from analysis.interpreter.values import Symbol, Value


class Lost(Symbol):
    """What stands for something that was not followed: what comes of it is not reported again."""

    __slots__ = ()


class Number(Symbol):
    """A number, whatever its value."""

    __slots__ = ()


class OneOfMany(Symbol):
    """An item of something of which nobody knows how much there is."""

    __slots__ = ()


class Collected(Symbol):
    """A collection that was made, item by item, of something of which nobody knows how much there is."""

    __slots__ = ()


class InFolder(Symbol):
    """What lies in a folder of which nobody knows the content."""

    __slots__ = ()


def known_length(value: Value) -> int | None:
    """How many items something unknown has, where that was counted."""
    length = value.parts.get(".__len__()") if isinstance(value, Symbol) else None
    return length if isinstance(length, int) else None
