"""What entry points have answered so far, for one set of rules: kept from the base to the head, and from one try of a fix to the next."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field

from analysis.consulted import Consulted
from analysis.facts import Facts
from analysis.fixes.change import Reported
from analysis.library.entries import Entry
from analysis.library.running import Ran
from analysis.modules import Modules
from analysis.snapshot import Snapshot
from analysis.source import Span


@dataclass(frozen=True, slots=True)
class Said:
    """What the traces of the entries in one file gave."""

    reported: tuple[Reported, ...] = ()
    unresolved: tuple[tuple[Span, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """An entry, whether it may run on several ranks, in how many steps, and the rules that were left out because they had failed."""

    entry: Entry
    distributed: bool
    steps: int
    without: frozenset[str]


@dataclass(slots=True, eq=False)
class Answer:
    """What the runs of one entry gave; ``failed`` are the rules that raised, with the sentence that says so."""

    ran: Ran = field(default_factory=Ran)
    reported: list[Reported] = field(default_factory=list)
    unresolved: list[tuple[Span, str]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


class Memory:
    """What one set of rules was answered, and ``facts`` by content hash, which know no rules."""

    def __init__(self, facts: MutableMapping[str, Facts] | None = None) -> None:
        self.facts: MutableMapping[str, Facts] = {} if facts is None else facts
        self._kept: dict[Asked, list[tuple[Consulted, Answer]]] = {}

    def find(self, asked: Asked, snapshot: Snapshot, modules: Modules) -> Answer | None:
        """The answer whose runs would see in ``snapshot`` what they saw when they were made."""
        return next((answer for consulted, answer in self._kept.get(asked, ()) if consulted.holds(snapshot, modules)), None)

    def keep(self, asked: Asked, answer: Answer, consulted: Consulted) -> None:
        """Remember what was answered, and on what it rests."""
        self._kept.setdefault(asked, []).append((consulted, answer))
