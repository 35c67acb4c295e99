"""One run of one entry point in one world: what rules read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from analysis.interpreter.values import Value
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace.automaton import Automaton, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.flat import Code, Op, flatten, loops_in, nodes_in
from analysis.trace.tree import CallNode, Loop, Seq


@dataclass(slots=True, eq=False)
class Trace:
    """What happened when ``entry`` ran.

    ``path`` is the entry's file and ``function`` the qualified name of the function that was called ("": the file ran as a script).
    ``distributed``: the world in which the program runs on several ranks. ``complete``: the run ended by itself, not for want of
    budget. ``result`` is what the entry returned: it goes to code that was not seen. ``unresolved`` says what could not be followed.
    ``flags``: whether options that the source leaves open count as given.
    """

    snapshot: Snapshot
    root: Seq
    path: str
    function: str = ""
    distributed: bool = False
    complete: bool = True
    result: Value = None
    unresolved: tuple[tuple[Span, str], ...] = ()
    flags: bool = True
    _laid_out: bool = field(default=False, repr=False)
    _numbered: bool = field(default=False, repr=False)
    _ops: list[Op] = field(default_factory=list, repr=False)
    _undecided: set[Event] = field(default_factory=set, repr=False)
    _places: dict[Kind, list[tuple[int, Event]]] = field(default_factory=dict, repr=False)
    _loops: dict[int, Loop] = field(default_factory=dict, repr=False)
    _chosen: dict[tuple[Kind, ...], list[tuple[int, Event]]] = field(default_factory=dict, repr=False)

    def events(self, *kinds: Kind) -> Iterator[Event]:
        """Events of these kinds in the order in which they happened."""
        return (event for _, event in self._placed(kinds))

    def events_in_order(self) -> Iterator[Event]:
        """Events of every kind in the order in which they happened."""
        return self.events(*Kind)

    def undecided(self, event: Event) -> bool:
        """Whether the event stands in one arm of an undecided branch: it may not have happened."""
        self._placed(())
        return event in self._undecided

    def loop(self, number: int) -> Loop | None:
        """The loop with that number in a stamp."""
        if not self._numbered:
            self._numbered, self._loops = True, loops_in(self.root)
        return self._loops.get(number)

    def calls(self, name: str) -> bool:
        """Whether a function or method of that name ran."""
        return any(isinstance(node, CallNode) and node.name.rpartition(".")[2] == name for node in nodes_in(self.root))

    def run(self, automaton: Automaton, letter_of: LetterOf, *kinds: Kind) -> Iterator[Witness]:
        """The mistakes that ``automaton`` sees in the events of these kinds, as one object reads them."""
        placed = self._placed(kinds)
        return automaton.run(self._ops, placed, letter_of)

    def _placed(self, kinds: tuple[Kind, ...]) -> list[tuple[int, Event]]:
        self._lay_out()
        if kinds not in self._chosen:
            lists = [self._places.get(kind, []) for kind in kinds]
            self._chosen[kinds] = lists[0] if len(lists) == 1 else sorted((item for found in lists for item in found), key=lambda item: item[0])
        return self._chosen[kinds]

    def _lay_out(self) -> None:
        """Once: there may be nothing to lay out."""
        if self._laid_out:
            return
        self._laid_out = True
        self._ops = flatten(self.root)
        depth = 0
        for place, op in enumerate(self._ops):
            depth += (op.code is Code.ALT) - (op.code is Code.END_ALT)
            if op.code is Code.EVENT and op.event is not None:
                self._places.setdefault(op.event.kind, []).append((place, op.event))
                if depth:
                    self._undecided.add(op.event)
