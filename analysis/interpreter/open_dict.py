"""Keyword arguments of which some are named and others come of a mapping that the source does not tell."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, GuestDict, Symbol, Value


class OpenDict(GuestDict):
    """``**kwargs`` of a call like ``f(a=1, **unknown)``: a key that is not named may be in ``rest``, with any value."""

    __slots__ = ("rest",)

    def __init__(self, named: dict[str, Value], rest: Symbol) -> None:
        super().__init__(named)
        self.rest = rest

    def __missing__(self, key: Value) -> Value:
        return self.rest.part(f"[{key!r}]")

    def get(self, key: Value, _default: Value = None) -> Value:
        """What is named, or whatever the rest has."""
        return self[key]

    def pop(self, key: Value, default: Value = MISSING) -> Value:
        """Take out what is named; the rest stays unknown."""
        return super().pop(key) if key in self else self[key]

    def copy(self) -> OpenDict:
        """The same, still open."""
        made = OpenDict(self, self.rest)
        made.span, made.stamp = self.span, self.stamp
        return made
