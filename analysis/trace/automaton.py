"""Small automata that ask a trace about the order of events: one run per object, one witness per mistake.

A rule gives each event a letter (or none) as one object sees it. The run keeps, for every state the object may be in, the
events that led there since it was last known to be in order. *Doubt*: a path that took one side of an undecided branch while
the other side, or the code it skipped, holds a letter that would have put things in order proves nothing; it is followed, and what it
finds is dropped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from analysis.trace.events import Event
from analysis.trace.flat import Code, Op, catches

#: What an event is to one object; None: nothing.
Letter: TypeAlias = str
LetterOf: TypeAlias = "Callable[[Event], Letter | None]"


@dataclass(frozen=True, slots=True)
class Witness:
    """A path to a mistake: the events since the object was last in order, the one that makes the mistake last."""

    events: tuple[tuple[Event, Letter], ...]

    @property
    def fault(self) -> Event:
        """The event that makes the mistake."""
        return self.events[-1][0]

    def last(self, *letters: Letter) -> Event | None:
        """The last event before the mistake with one of these letters."""
        return next((event for event, letter in reversed(self.events[:-1]) if letter in letters), None)


@dataclass(frozen=True, slots=True)
class Automaton:
    """``table`` maps (state, letter) to the next state; a letter that is not there changes nothing.

    ``faults`` are the (state, letter) pairs that are the mistake. In a state of ``neutral`` the object is in order, or
    nothing is known about it: what happened before no longer counts. ``cures`` are the letters whose absence the
    rule complains about. ``certain``: a mistake counts only where every way that leads to its place makes it.
    """

    start: str
    table: Mapping[tuple[str, Letter], str]
    faults: frozenset[tuple[str, Letter]]
    neutral: frozenset[str]
    cures: frozenset[Letter]
    certain: bool = False

    def run(self, ops: list[Op], events: Iterable[tuple[int, Event]], letter_of: LetterOf) -> Iterator[Witness]:
        """One witness per place of a mistake, in the order of the trace. ``events``: those that may matter, with their places in ``ops``."""
        letters = {place: letter for place, event in events if (letter := letter_of(event)) is not None}
        if any(letter in letters.values() for _, letter in self.faults):
            yield from _Run(self, ops, letters).witnesses()


@dataclass(frozen=True, slots=True)
class _Link:
    """The events of a path, newest first."""

    event: Event
    letter: Letter
    before: _Link | None


#: (state, in doubt) and how the object came there.
_States: TypeAlias = "dict[tuple[str, bool], _Link | None]"


@dataclass(slots=True)
class _Open:
    """An alternative, loop or call that is being passed: states that wait for its next arm, next iteration or end."""

    place: int
    op: Op
    entry: _States = field(default_factory=dict)
    next_iteration: _States = field(default_factory=dict)
    raised: _States = field(default_factory=dict)
    end: _States = field(default_factory=dict)


class _Run:
    """One pass of an automaton over the line of a trace."""

    def __init__(self, automaton: Automaton, ops: list[Op], letters: Mapping[int, Letter]) -> None:
        self.automaton = automaton
        self.ops = ops
        self.letters = letters
        self.places = sorted(letters)
        self.cures = [place for place in self.places if letters[place] in automaton.cures]
        self.states: _States = {(automaton.start, False): None}
        self.open: list[_Open] = []
        self.found: dict[object, Witness] = {}

    def witnesses(self) -> Iterator[Witness]:
        """Pass once, as far as there are letters, and give what was found. Parts without one that nothing leaves are passed over."""
        place, following = 0, 0
        while following < len(self.places):
            op = self.ops[place]
            if op.code is Code.EVENT:
                if self.places[following] == place and op.event is not None:
                    self._read(op.event, self.letters[place])
                    following += 1
            elif op.opens and not op.escapes and self.places[following] >= op.end:
                place = op.end
            else:
                self._pass(place, op)
            place += 1
        yield from self.found.values()

    def _pass(self, place: int, op: Op) -> None:
        match op.code:
            case Code.ALT | Code.LOOP | Code.CALL:
                self.open.append(_Open(place, op, entry=self.states))
            case Code.ARM:
                self._begin_arm(place, op)
            case Code.END_ITERATION:
                _merge(self.states, self.open[-1].next_iteration)
                self.open[-1].next_iteration = {}
            case Code.END_ALT | Code.END_LOOP | Code.END_CALL:
                closed = self.open.pop()
                _merge(self.states, closed.end)
                self.states = self.states or closed.raised
            case Code.RAISE:
                _merge(self.open[-1].raised, self.states)
                self.states = {}
            case Code.LEAVE:
                self._leave(place, op.leave)

    def _read(self, event: Event, letter: Letter) -> None:
        """Every state moves on."""
        after: _States = {}
        faults = self.automaton.faults
        counts = not self.automaton.certain or all((state, letter) in faults for state, _ in self.states)
        for (state, doubt), link in self.states.items():
            path = _Link(event, letter, link)
            if counts and (state, letter) in faults and not doubt:
                self.found.setdefault((event.span, event.path), Witness(_events(path)))
            following = self.automaton.table.get((state, letter), state)
            if following in self.automaton.neutral:
                after.setdefault((following, False), None)
            else:
                after.setdefault((following, doubt), path if (state, letter) in self.automaton.table else link)
        self.states = after

    def _begin_arm(self, place: int, op: Op) -> None:
        """Start from the state before the alternative; the states after the arm before are kept for its end."""
        choice = self.open[-1]
        if place > choice.place + 1:
            _merge(choice.end, self.states)
        elsewhere = _any_within(self.cures, choice.place, place) or _any_within(self.cures, op.end - 1, choice.op.end)
        self.states = self._doubted(choice.entry) if elsewhere else dict(choice.entry)

    def _leave(self, place: int, kind: str) -> None:
        """Control goes to the end of a loop, iteration or call, past what stands between."""
        target = next((part for part in reversed(self.open) if catches(part.op.code, kind)), None)
        if target is not None:
            end = self._end_of_iteration(place, target.op) if target.op.code is Code.LOOP else target.op.end
            states = self._doubted(self.states) if _any_within(self.cures, place, end) else self.states
            _merge(target.next_iteration if kind == "continue" else target.end, states)
        self.states = {}

    def _end_of_iteration(self, place: int, loop: Op) -> int:
        depth = 0
        for index in range(place, loop.end):
            code = self.ops[index].code
            depth += (code is Code.LOOP) - (code is Code.END_LOOP)
            if code is Code.END_ITERATION and depth == 0:
                return index
        return loop.end

    def _doubted(self, states: _States) -> _States:
        after: _States = {}
        for (state, doubt), link in states.items():
            after.setdefault((state, doubt or state not in self.automaton.neutral), link)
        return after


def _merge(into: _States, states: _States) -> None:
    """A place reached in several ways keeps the first witness of each state."""
    for key, link in states.items():
        into.setdefault(key, link)


def _any_within(places: list[int], after: int, before: int) -> bool:
    """Whether a place lies strictly between two others."""
    index = bisect_left(places, after + 1)
    return index < len(places) and places[index] < before


def _events(link: _Link | None) -> tuple[tuple[Event, Letter], ...]:
    found: list[tuple[Event, Letter]] = []
    while link is not None:
        found.append((link.event, link.letter))
        link = link.before
    return tuple(reversed(found))
