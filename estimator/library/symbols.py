"""Kinds of unknown values that the tape tells apart."""

from __future__ import annotations

from analysis.interpreter.values import Symbol


class Lost(Symbol):
    """What stands for something that was not followed: what comes of it is not reported again."""

    __slots__ = ()


class Number(Symbol):
    """A number, whatever its value."""

    __slots__ = ()


class OneOfMany(Symbol):
    """An item of something of which nobody knows how much there is."""

    __slots__ = ()
