"""The imaginary machine: the dynamic state of one run, and the verbs that its parts and the library use.

The verbs live in files of their own, one idea each; this one holds what they share.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from analysis.interpreter import attributes, branches, calls, classes, expressions, files, imports, items, iteration, operators, statements
from analysis.interpreter.builtins import BUILTINS
from analysis.interpreter.heap import Heap
from analysis.interpreter.signals import BudgetSpent
from analysis.interpreter.values import MISSING, Class, FewItems, Instance, Module, Stamp, Value
from analysis.modules import Modules
from analysis.source import SourceFile, Span
from analysis.trace.tree import Builder

if TYPE_CHECKING:
    import ast

    from analysis.interpreter.domain import Domain
    from analysis.interpreter.frames import Frame
    from analysis.snapshot import Snapshot
    from analysis.trace.events import RankGuard

#: More notes than a reader would ever see.
MAX_NOTES = 1000
#: Containers of more items are cut where another is extended by them.
MAX_WHOLE = 1 << 20
#: Host frames needed per guest call and per nested expression, with room to spare.
_HOST_RECURSION = 20_000


class Machine:
    """One run over one snapshot."""

    def __init__(self, snapshot: Snapshot, domain: Domain, budget: int, *, modules: Modules | None = None, survives_raises: bool = False) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _HOST_RECURSION))
        self.snapshot = snapshot
        self.domain = domain
        self.steps = budget
        self.modules = modules or Modules(snapshot)
        self.heap = Heap()
        self.tree = Builder()
        self.loaded: dict[str, Module] = {}
        #: What names of libraries were found to stand for, by module, name and asking file.
        self.found_outside: dict[tuple[str, str, str], Value] = {}
        self.entry_path = ""
        self.stamp: Stamp = ()
        self.path: tuple[Span, ...] = ()
        self.frame: Frame | None = None
        #: Where the call in progress stands; before anything ran, nowhere.
        self.span = Span("", 0, 0)
        self.depth = self.try_depth = 0
        #: Undecided conditions whose sides are being run: an exception ends only the side that raises it.
        self.fork_depth = 0
        #: An exception that nobody catches is taken to be a gap of ours: its call gives something unknown, and the program goes on.
        self.survives_raises = survives_raises
        self.next_loop = 0
        #: How many items were taken so far that the source does not tell, and how many of them each rank has of its own.
        self.unknown_items = self.own_items = 0
        self.state: dict[str, Any] = {}
        #: Conditions whose outcome differs between ranks, with the answers of rank 0 and of the others, as the domain found them.
        self.divisions: dict[Span, tuple[Value, bool | None, bool | None]] = {}
        #: Those of them that control is under now.
        self.guards: tuple[RankGuard, ...] = ()
        #: Whether the truth that is asked for now is that of the opposite of the condition.
        self.negated = False
        #: The functions that ran, each with its file.
        self.executed: dict[ast.AST, SourceFile] = {}
        #: Steps that each function took itself, without those that it called; and what the calls of the one that runs took so far.
        self.costs: dict[ast.AST, int] = {}
        self.costs_within = 0
        #: Functions that are not followed in this run.
        self.skipped: frozenset[ast.AST] = frozenset()
        #: What could not be followed, where, in a sentence: shown to the reader.
        self.unresolved: list[tuple[Span, str]] = []
        self.places: dict[tuple[int, Value], Span] = {}
        #: What host code was given that has just failed, for the domain to say why.
        self.refused: tuple[Value, ...] = ()
        #: Globals of the entry script that the caller sets (``--set NAME=VALUE``).
        self.overrides: dict[str, Value] = {}
        #: Functions that the program puts in the place of a library's, by dotted name.
        self.patched: dict[str, Value] = {}
        self.argument_places: tuple[list[Span | None], dict[str, Span | None]] = ([], {})
        self.builtins: dict[str, Value] = BUILTINS

    # Verbs; each is explained where it is written.
    evaluate = expressions.evaluate
    truth = operators.truth
    binary = operators.binary
    execute = statements.execute
    assign = statements.assign
    call = calls.call
    construct = classes.construct
    define = classes.define_by_call
    getattr = attributes.get
    setattr = attributes.set
    delattr = attributes.delete
    getitem = items.get_item
    setitem = items.set_item
    iterate = iteration.iterate
    fork = branches.fork
    import_module = imports.import_module
    load = imports.load
    open_file = files.open_file
    run_text = files.run_text

    @property
    def here(self) -> Frame:
        """The activation that runs. Raises AssertionError before anything does."""
        assert self.frame is not None  # noqa: S101  verbs that branch are called by running code only
        return self.frame

    def step(self) -> None:
        """Spend one step of the budget."""
        self.steps -= 1
        if self.steps < 0:
            raise BudgetSpent

    def note(self, span: Span, sentence: str) -> None:
        """Record something that could not be followed."""
        if len(self.unresolved) < MAX_NOTES and (span, sentence) not in self.unresolved[-20:]:
            self.unresolved.append((span, sentence))

    def place_of(self, cells: dict[Value, Value], key: Value) -> Span | None:
        """Where that variable or attribute was last written, if places are tracked."""
        return self.places.get((id(cells), key))

    def instance(self, cls: Class, span: Span | None = None, *, assumed: bool = False) -> Instance:
        """A new object of ``cls`` made here and now, without running its constructor."""
        return Instance(cls, span or self.span, self.stamp, assumed=assumed)

    def lookup(self, name: str, frame: Frame) -> Value:
        """The variable ``name`` as ``frame`` sees it, or ``MISSING``."""
        value = frame.cells[name].get("value", MISSING) if name in frame.cells else frame.vars.get(name, MISSING)
        if value is MISSING and frame.outer is not None:
            return self.lookup(name, frame.outer)
        if value is MISSING:
            value = frame.module.vars.get(name, MISSING)
        if value is MISSING:
            value = self.builtins.get(name, MISSING)
        return value

    def items(self, value: Value, span: Span | None = None) -> list[Value]:
        """All items of an iterable at once (bounded for what is endless or unknown)."""
        found: list[Value] = []
        for item in iteration.few_if_endless(self, self.iterate(value, span or self.span)):
            found.append(item)
            if not iteration.another(self, len(found)):
                break
        return found

    def whole(self, value: Value, span: Span) -> list[Value]:
        """All items of what a container is extended by: a list's or a tuple's as many as a machine can bear."""
        plain = isinstance(value, (list, tuple)) and not isinstance(value, FewItems)
        return list(value[: MAX_WHOLE if len(value) <= MAX_WHOLE else iteration.FREE_ITEMS]) if plain else self.items(value, span)

    def as_host(self, function: Value, span: Span) -> Callable[..., Value]:
        """``function`` as a host callable, for handlers that pass it on (``sorted(key=…)``)."""
        return lambda *args, **kwargs: self.call(function, list(args), kwargs, span)

    def each(self, value: Value) -> Iterator[Value]:
        """``iterate`` at the current span."""
        return self.iterate(value, self.span)
