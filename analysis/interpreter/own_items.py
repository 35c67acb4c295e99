"""Lists of which each rank has items of its own: picked by a condition that ranks answer differently, so that a rank may have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from analysis.interpreter.values import FewItems, Symbol, Value

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.source import Span


#: The role of the symbol that says whether a rank has any.
HAS_ITEMS = "has items of its own"


class OwnItems(FewItems):
    """Such a list: its length, and whether it is empty, differ between ranks. ``source``: all that it was made of, where that is known."""

    __slots__ = ("source",)

    source: Value

    rank_varying: ClassVar[bool] = True


def own_items(machine: Machine, made: list[Value], span: Span, source: Value = None) -> OwnItems:
    """The items of ``made`` as such a list, made at ``span`` of all that ``source`` has."""
    own = OwnItems(made)
    own.span, own.stamp, own.source = span, machine.stamp, source
    return own


def has_items(items: OwnItems) -> Symbol:
    """Whether this rank has any of them."""
    symbol = Symbol("whether this rank has any items", items.span, items.stamp, rank_varying=True)
    symbol.role = HAS_ITEMS
    return symbol
