"""What is iterated over without its length being known, and what is made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from analysis.interpreter.files import Unread
from analysis.interpreter.values import Symbol, Value
from estimator.library.symbols import Collected, InFolder, OneOfMany, known_length
from estimator.script.ancestry import chain
from estimator.script.unwatched import Unwatched
from estimator.script.words import in_words

if TYPE_CHECKING:
    from analysis.certainty import Place
    from analysis.interpreter.machine import Machine
    from analysis.source import Span
    from estimator.script.observed import Observed

#: Items of something unknown: enough for two optimizer steps of a loop over it.
_UNKNOWN_ITEMS = 3
#: Different classes that a folder is taken to hold where nobody knows: as many as one value may stand for.
_CLASSES = 8
#: Different characters that a text is taken to hold where nobody knows: those of ASCII that are printed, and the end of a line.
_CHARACTERS = 96
_COLLECTION = "a collection made of "


class Uncounted(Unwatched, ABC):
    """The part of the domain that hands out items of unknown things."""

    observed: Observed

    def __init__(self) -> None:
        #: What was iterated over last without its length being known.
        self._uncounted: Value = None

    @abstractmethod
    def here(self, span: Span) -> Place | None:
        """The repository's line that is being run."""

    def unknown_items(self, machine: Machine, value: Value, span: Span) -> Iterator[Value]:
        """Items that the source does not tell."""
        length = known_length(value)
        counted = length is not None
        if not counted:
            self._uncounted = value
        words = in_words(value)
        for index in range(_UNKNOWN_ITEMS if length is None else length):
            item = (Symbol if counted else OneOfMany)(f"item {index} of {words}", span, machine.stamp)
            item.source = value
            yield item
            machine.unknown_items -= counted  # as many as there are: nothing is open about them

    def brought(self, machine: Machine, value: Value, span: Span) -> list[Value]:
        """The items, as far as they are counted, or else one that stands for all: a model that is made of them is not known."""
        return [*islice(self.unknown_items(machine, value, span), 1 if known_length(value) is None else None)]

    def collected(self, machine: Machine, made: Value, span: Span) -> Value:
        """A collection of unknown length is not known: two or three items would make a wrong shape."""
        symbol = Collected(f"{_COLLECTION}{in_words(self._uncounted).removeprefix(_COLLECTION)}", span, machine.stamp)
        symbol.source = self._uncounted
        symbol.parts.update({f"[{index}]": item for index, item in enumerate(made if isinstance(made, list) else ())})
        if isinstance(made, (set, frozenset)) and any(isinstance(each, InFolder) for each in chain(symbol)):
            self._taken(symbol, _CLASSES, "classes lie in the folder", span)
        elif isinstance(made, (set, frozenset)) and isinstance(self._uncounted, Unread):
            self._taken(symbol, _CHARACTERS, "characters are in the text", span)
        return symbol

    def _taken(self, symbol: Symbol, count: int, what: str, span: Span) -> None:
        symbol.parts[".__len__()"] = count
        self.observed.fact("assumed_model", f"how many different {what} is not known: {count} are taken", self.here(span))
