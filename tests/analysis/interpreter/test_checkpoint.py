"""What hangs on an object is taken back as often as it is asked for, whatever was done to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from analysis.interpreter.checkpoint import CannotKeepError, Checkpoint
from analysis.interpreter.values import GuestDict, GuestList, Symbol


@dataclass(slots=True)
class Holder:
    """An object with a slot that is not set at first."""

    held: Any = None
    late: Any = field(init=False)


class Open:
    """An object with attributes of its own."""


def test_items_and_attributes_are_taken_back() -> None:
    inner, numbers, words = GuestDict(a=1), GuestList([1, 2]), {"x"}
    holder = Holder((inner, numbers, words))
    checkpoint = Checkpoint(holder)
    for _ in range(2):
        inner["b"] = numbers
        del inner["a"]
        numbers.append(3)
        words.clear()
        holder.held, holder.late = None, 1
        checkpoint.restore()
        assert holder.held == ({"a": 1}, [1, 2], {"x"})
        assert holder.held[0] is inner
        assert not hasattr(holder, "late")


def test_attributes_that_were_added_go() -> None:
    owner: Any = Open()
    owner.kept = [1]
    checkpoint = Checkpoint(owner)
    owner.kept, owner.added = [], 2
    checkpoint.restore()
    assert vars(owner) == {"kept": [1]}


def test_what_functions_hold_is_taken_back() -> None:
    seen: list[int] = []
    count = 0

    def call(number: int, into: list[int] = seen) -> None:
        nonlocal count
        count += number
        into.append(number)

    checkpoint = Checkpoint(partial(call, 1))
    call(1)
    checkpoint.restore()
    assert (seen, count) == ([], 0)


def test_a_symbol_forgets_what_was_done_to_it() -> None:
    symbol = Symbol("options", None)
    checkpoint = Checkpoint(symbol)
    symbol.uses.add("call")
    symbol.part(".lr")
    symbol.role = "model"
    checkpoint.restore()
    assert (symbol.uses, symbol.parts, symbol.role) == (set(), {}, "")


def test_earlier_states_stay_within_reach() -> None:
    numbers = [1]
    first = Checkpoint(numbers)
    numbers.append(2)
    second = Checkpoint(numbers)
    first.restore()
    assert numbers == [1]
    second.restore()
    assert numbers == [1, 2]


def test_what_is_named_as_fixed_is_left_alone() -> None:
    table = Open()
    table.__dict__["rows"] = [1]
    checkpoint = Checkpoint([table], leaves=(Open,))
    table.__dict__["rows"].append(2)
    checkpoint.restore()
    assert vars(table) == {"rows": [1, 2]}


@pytest.mark.parametrize("begun", [iter([1, 2]), (each for each in (1, 2)), zip([1], [2], strict=True)], ids=["iterator", "generator", "zip"])
def test_what_has_begun_cannot_be_kept(begun: object) -> None:
    with pytest.raises(CannotKeepError, match="cannot be kept"):
        Checkpoint([begun])
