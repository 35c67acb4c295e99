"""Rows of token numbers on the host: only how many matters, and how surely that is known."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from analysis.interpreter.builtins import BUILTINS
from analysis.interpreter.values import Call, HostFunction, HostValue, Symbol, Value
from estimator.library.arrays import window
from estimator.library.symbols import Number
from estimator.tape.dtype import INT64, Dtype
from estimator.tape.tensor import Tensor

#: The tokens of a text of which nothing is known: enough that a batch of texts, joined, fills a window of any usual length.
OPEN = 1 << 17
#: The length that texts are taken to have where nothing says one: shown as an assumption.
USUAL_LENGTH = 512
#: An item of a whole column of texts: where it is in a text, a column was joined into one.
TEXT_OF_COLUMN = "a text of a whole column"
#: The tokens of all texts of a column: those of a small test set, as of WikiText-2.
COLUMN_LENGTH = 1 << 18


class Tokens(HostValue):
    """A row of ``length`` token numbers. ``why`` says what is in doubt about the length, "" if nothing is; ``at_most``: it is no longer than that.

    From ``endless`` on nothing is known of the length. ``usual`` is the length that a row of open length is taken to have where a number is needed.
    A ``stream`` holds many texts, one after another: any window of it is full.
    """

    __slots__ = ("at_most", "length", "stream", "usual", "why")
    dtype: ClassVar[Dtype] = INT64
    endless: ClassVar[int] = OPEN
    kind: ClassVar[str] = "texts"
    unit: ClassVar[str] = "tokens"

    def __init__(self, length: int, why: str = "", usual: int = USUAL_LENGTH, *, at_most: bool = False, stream: bool = False) -> None:
        self.at_most = at_most
        self.stream = stream
        self.length = length
        self.why = why
        self.usual = usual

    @property
    def open(self) -> bool:
        """Whether nothing is known of the length."""
        return self.length >= self.endless

    def copy(self) -> Self:
        """The same row."""
        return self._of(self.length)

    def cut(self, length: int) -> Self:
        """The first part of a row of unknown length."""
        why = f"{self.kind} may be shorter than {length} {self.unit}, to which they are cut: a batch with one that long is taken"
        return type(self)(length, why, at_most=True)

    def _of(self, length: int) -> Self:
        """A row of another length, as surely known."""
        return type(self)(length, self.why, self.usual, at_most=self.at_most, stream=self.stream)

    def index(self, _token: Any) -> int:
        """Where a token is: at the end of the row."""
        return max(self.length - 1, 0)

    def append(self, _token: Any) -> None:
        """One more."""
        self.length += 1

    def extend(self, others: Any) -> None:
        """So many more."""
        self.length += len(others)

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        return itertools.repeat(TokenNumber(self), self.length)

    def __getitem__(self, index: Any) -> Tokens | int:
        if not isinstance(index, slice):
            return TokenNumber(self)
        taken = window(index, self.length)
        if taken >= self.endless or not self.open:
            return self._of(taken)
        return type(self)(taken) if self.stream or not self.why or index.start else self.cut(taken)

    def __add__(self, other: Any) -> Tokens:
        surer = other if isinstance(other, Tokens) and other.open and not self.open else self
        return surer._of(self.length + len(other))

    __radd__ = __add__

    def __iadd__(self, other: Any) -> Self:
        self.length += len(other)
        return self

    def __mul__(self, times: int) -> Tokens:
        return self._of(self.length * times)


class TokenNumber(int):
    """One of a row's token numbers, whichever: a plain list that it was put into tells by it what it holds."""

    row: Tokens

    def __new__(cls, row: Tokens) -> Self:
        """A number of ``row``."""
        made = super().__new__(cls, 0)
        made.row = row
        return made


def cut_to(length: int) -> Tokens:
    """A text of unknown length, cut to ``length`` tokens."""
    return Tokens(OPEN).cut(length)


def row_in(items: list[Any] | tuple[Any, ...]) -> Tokens | None:
    """The row of which a plain list holds the numbers, if its length is not known or bounded only."""
    number = next((item for item in items if type(item) is TokenNumber and item.row.open), None)
    if number is None:
        return None
    row = Tokens(len(items), number.row.why, number.row.usual)
    return row if row.open else cut_to(len(items))


def joined(rows: list[Any]) -> Tokens:
    """Rows one after another."""
    why = next((row.why for row in rows if isinstance(row, Tokens) and row.why), "")
    return Tokens(sum(len(row) for row in rows), why, stream=True)


def _list(call: Call) -> Value:
    """``list(…)``: a row of tokens stays one."""
    source = call.args[0] if call.args else ()
    if isinstance(source, Chained):
        rows = source.rows
        if rows and all(isinstance(row, Tokens) for row in rows):
            return joined(rows)
        return BUILTINS["list"].run(Call(call.machine, [iter(source)], {}, call.span))
    return source.copy() if isinstance(source, Tokens) else _whole("list").run(call)


class Chained:
    """``itertools.chain(…)``: iterable, and to be looked into."""

    def __init__(self, call: Call, rows: list[Any]) -> None:
        self.rows = rows
        self._call = call

    def __iter__(self) -> Iterator[Value]:
        return itertools.chain.from_iterable(self._call.machine.iterate(row, self._call.span) for row in self.rows)


def _chain(call: Call) -> Value:
    rows = call.args
    if any(isinstance(row, Tokens) for row in rows):
        return Chained(call, list(rows))
    return itertools.chain.from_iterable(call.machine.iterate(row, call.span) for row in rows)


def _chain_from_iterable(call: Call) -> Value:
    return _chain(Call(call.machine, call.machine.items(call.args[0], call.span), {}, call.span))


def _identity_number(call: Call) -> Value:
    """``id(…)``: objects of the guest are objects of the host, so theirs are right."""
    return id(call.args[0])


def _whole(name: str) -> HostFunction:
    """A built-in that takes all items at once: of unknown many, an unknown collection."""

    def run(call: Call) -> Value:
        before = call.machine.unknown_items
        made = BUILTINS[name].run(call)
        return made if call.machine.unknown_items == before else call.machine.domain.collected(call.machine, made, call.span)

    return HostFunction(name, run)


def _number(name: str) -> HostFunction:
    """``int(…)`` and ``float(…)``: of something unknown, a number all the same; of a tensor, the number in it."""

    def run(call: Call) -> Value:
        given = call.args[0] if call.args else None
        made = BUILTINS[name].run(Call(call.machine, [given.item(), *call.args[1:]], call.kwargs, call.span) if isinstance(given, Tensor) else call)
        if not isinstance(made, Symbol) or isinstance(made, Number):
            return made
        number = Number(f"{name}(…)", call.span, call.machine.stamp)
        number.source = made
        return number

    return HostFunction(name, run)


#: Built-ins that mean more here than on plain values.
BUILTINS_HERE: dict[str, Value] = {
    **BUILTINS, **{name: _whole(name) for name in ("tuple", "set", "frozenset", "sorted", "dict")}, "list": HostFunction("list", _list),
    "id": HostFunction("id", _identity_number), "int": _number("int"), "float": _number("float"),
}  # fmt: skip
NAMES: dict[str, Value] = {
    "itertools.chain": HostFunction("itertools.chain", _chain),
    "itertools.chain.from_iterable": HostFunction("itertools.chain.from_iterable", _chain_from_iterable),
    "preflight_host.Tokens": Tokens,
    "preflight_host.OPEN": OPEN,
    "preflight_host.TEXT_OF_COLUMN": TEXT_OF_COLUMN,
}
