"""Roles: an argument that nobody passes becomes what its uses and its annotation say it is.

A collecting run notes what is done to each symbol; ``Casting.solve`` turns that into roles; in the next run the symbol of
the same name and place is an object of that role, marked as assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.interpreter.values import MISSING, Call, Instance, Stamp, Symbol, Value
from analysis.library.ranks import own_rank
from analysis.library.roles import RANK_ROLE, Role, role_of
from analysis.source import Span

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

#: What tells a symbol from others in every run of an entry: how it is called in the source, and where it came up.
Name = tuple[str, Span | None]


#: Methods of tensors and arrays that the library needs no handler for.
_DATA = """
to cuda cpu float double half long int view reshape squeeze unsqueeze flatten permute transpose sum mean max min exp log abs sqrt pow clone
contiguous size dim numpy chunk split repeat expand gather softmax log_softmax sigmoid tanh relu clamp add sub mul div matmul sample
"""
_OF_DATA = frozenset(_DATA.split())
#: Attributes of tensors and arrays.
_ABOUT_DATA = frozenset({"shape", "device", "dtype", "ndim", "T"})


class Castable(Symbol):
    """A symbol whose role may have been solved in an earlier run; its parts are castable too.

    ``whole`` is what it is a part of, as ``key``; ``callee`` what was called to give it.
    """

    __slots__ = ("callee", "casting", "key", "whole")

    def __init__(self, casting: Casting, why: str, span: Span | None, stamp: Stamp, *, varying: bool = False) -> None:
        super().__init__(why, span, stamp, rank_varying=varying)
        self.casting = casting
        self.whole: Castable | None = None
        self.key = ""
        self.callee: Value = None

    def part(self, key: str, why: str | None = None, stamp: Stamp | None = None) -> Value:
        """The value derived by ``key``, the same one every time."""
        if key not in self.parts:
            where = self.stamp if stamp is None else stamp
            made = self.parts[key] = self.casting.symbol(why or f"{self.why}{key}", self.span, where, varying=self.rank_varying)
            if isinstance(made, Castable):
                made.whole, made.key = self, key
        return self.parts[key]

    def differentiated(self) -> None:
        """A backward goes through it: what gave it, applied to a batch, or by a method that is neither a tensor's nor a container's, has parameters."""
        symbol: Castable = self
        method, called = "", "call" in self.uses
        while True:
            if isinstance(symbol.callee, Castable):
                symbol, called = symbol.callee, True
            elif symbol.whole is not None:
                method, called = symbol.key.removeprefix(".") if called else "", False
                symbol = symbol.whole
            else:
                break
        known = not self.casting.is_ordinary(method) if method else "applied" in symbol.uses
        if known and symbol.why.isidentifier():
            symbol.uses.add("differentiated")


def batches_of(value: Value, *, whole: bool = False) -> Castable | None:
    """What gave the batch of which ``value`` is a part (or the ``whole``): what was iterated over, if the source does not tell it."""
    symbol, inside = value, whole
    while isinstance(symbol, Castable):
        if symbol.whole is None:
            return symbol.source if inside and isinstance(symbol.source, Castable) else None
        symbol, inside = symbol.whole, True
    return None


def _has_settings(symbol: Symbol) -> bool:
    """Whether attributes are read from it that are neither called nor such as data have."""
    read = ((key, part) for key, part in symbol.parts.items() if isinstance(key, str) and key.startswith(".") and isinstance(part, Symbol))
    return any("call" not in part.uses and key[1:] not in _ABOUT_DATA for key, part in read)


class Casting:
    """The roles that are known, and the symbols whose roles are still to be found."""

    def __init__(self, roles: Mapping[Name, Role] | None = None) -> None:
        self.roles = dict(roles or {})
        self.symbols: list[Castable] = []
        self._fed: list[tuple[Castable, Castable]] = []
        self.annotated: dict[Name, str] = {}
        self._machine: Machine | None = None

    def bind(self, machine: Machine) -> None:
        """Take up work for one run."""
        self._machine = machine
        self.symbols, self._fed = [], []

    def symbol(self, why: str, span: Span | None, stamp: Stamp, *, varying: bool = False) -> Value:
        """Something that the source does not tell: an object of its role if that was solved, else a symbol."""
        role = self.roles.get((why, span))
        if role is not None:
            return self._played(role, span, stamp)
        symbol = Castable(self, why, span, stamp, varying=varying)
        self.symbols.append(symbol)
        return symbol

    def result(self, call: Call, why: str, *more: Value) -> Value:
        """What a call gives that the source does not tell: as varying as what went in."""
        values = (*call.args, *call.kwargs.values(), *more)
        stamps = [value.stamp for value in values if isinstance(value, Symbol)]
        varying = any(getattr(value, "rank_varying", False) is True for value in values)
        made = self.symbol(why, call.span, max((call.machine.stamp, *stamps), key=len), varying=varying)
        if isinstance(made, Castable) and more:
            made.callee = more[0]
        return made

    def is_ordinary(self, method: str) -> bool:
        """Whether data have a method of that name: a tensor, an array, a string or a container."""
        machine = self._machine
        known = machine is not None and machine.domain.lookup(f"torch.Tensor.{method}") is not MISSING
        return known or any(hasattr(kind, method) for kind in (dict, list, set, str, tuple, float)) or method in _OF_DATA

    def _played(self, role: Role, span: Span | None, stamp: Stamp) -> Value:
        machine = self._machine
        if machine is None:
            raise ValueError("roles are played in a run")
        if role is RANK_ROLE:
            return own_rank(machine)
        instance = Instance(machine.domain.lookup(role.cls), span, stamp, assumed=True)
        role.dress(machine, instance)
        return instance

    def feeds(self, callee: Value, given: Sequence[Value], named: Mapping[str, Value]) -> None:
        """``callee`` is called with arguments: if it is a model, what gave the batches they are of gives batches."""
        for name, value in (*zip(range(len(given)), given, strict=True), *named.items()):
            source = batches_of(value, whole=name in {"*", "**"})
            if source is not None and isinstance(callee, Castable):
                self._fed.append((callee, source))
            elif source is not None:
                source.uses.add("fed")

    def given_anew(self) -> frozenset[Name]:
        """The symbols that may stand for a batch: known before any loop, of no role, with no settings read from them."""
        named = (symbol for symbol in self.symbols if symbol.whole is None and symbol.stamp == () and symbol.why.isidentifier())
        free = (symbol for symbol in named if role_of(symbol, self.annotated.get((symbol.why, symbol.span), "")) is None)
        return frozenset((symbol.why, symbol.span) for symbol in free if not _has_settings(symbol))

    def solve(self) -> dict[Name, Role]:
        """The roles that this run's symbols turned out to have, with those known before."""
        found = dict(self.roles)
        for callee, source in self._fed:
            role = role_of(callee, self.annotated.get((callee.why, callee.span), ""))
            if role is not None and role.is_model:
                source.uses.add("fed")
        for symbol in self.symbols:
            if "key" in symbol.uses and isinstance(symbol.source, Symbol) and symbol.why.startswith("an item of "):
                symbol.source.uses.add("keys")
        for symbol in self.symbols:
            role = role_of(symbol, self.annotated.get((symbol.why, symbol.span), ""))
            if role is not None:
                found[(symbol.why, symbol.span)] = role
        return found
