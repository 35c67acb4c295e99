"""Conditions that the source leaves open: decided once per world, or run both ways.

A flag (an argument, an environment variable) that was fixed before any loop has one truth in a run, so that ``if use_amp`` means
the same everywhere: one run takes all flags as on, another all as off. What depends on data or on the rank is undecided.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.interpreter.classes import member_name
from analysis.interpreter.values import Alternatives, HostValue, Instance, Symbol, Value
from analysis.library.casting import Castable, batches_of
from analysis.library.ending import asks_for_the_end
from analysis.library.failures import TRUTH
from analysis.library.noting import notes
from analysis.library.off_switches import turns_off
from analysis.library.ranks import answers
from analysis.library.skipping import skips_training
from analysis.library.tensor import Scalar
from analysis.source import SourceFile, Span
from analysis.syntax import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.library.domain import TraceDomain


#: Operations that give a part of what they are given as it is.
_TAKEN_OUT = frozenset({"getitem", "attribute"})
#: Comparisons of a counter with where it ends.
_BOUNDS = frozenset({"<", "<=", ">", ">="})
#: Where the machine's state keeps the last decision.
_LAST = "last decision"
#: Functions and methods that ask whether a file or folder is there, or what is in it.
FILE_TESTS = frozenset({"exists", "listdir", "isdir", "isfile", "is_dir", "is_file"})

#: The role of a symbol that stands for the time.
TIME = "time"
#: How deep conditions are searched for it.
_DEPTH = 8


def decide(domain: TraceDomain, condition: Value, span: Span) -> bool | None:
    """The side to take, or None for both."""
    divisions = domain.machine.divisions
    divisions.pop(span, None)
    if getattr(condition, "rank_varying", False) and not _says_what_a_batch_holds(condition):
        zero, others = answers(condition)
        if zero is not None and zero == others:
            return zero
        divisions[span] = condition, zero, others
        return None
    if domain.reads_clock and asks_for_time(condition) and domain.is_distributed():
        divisions[span] = condition, None, None
        return None
    if not isinstance(condition, Symbol) or depends_on_data(condition):
        return None
    domain.decided_flags = True
    if domain.world.collecting and not _about_absence(condition):
        return None
    known = domain.avoided.get(id(condition))
    if known is not None:
        return known[1]
    ended = domain.rehearsal.at_the_end(domain.machine, condition)
    if ended is not None:
        return ended
    asked, inside, taken = domain.machine.state.get(_LAST, (None, span, False))
    if asked is condition and span.path == inside.path and span.start <= inside.start and inside.end <= span.end:
        return bool(taken)  # ``a and b`` ended with ``a``, which is now asked for as the whole
    chosen = _chosen(domain, condition)
    if domain.machine.negated and not condition.test and _is_asked(domain, span, turns_off):
        domain.avoided[id(condition)] = condition, not chosen
        return not chosen
    counts = _counts(condition)
    taken = not chosen if span in domain.world.turned else _not_leaving(domain, span, chosen=chosen, counts=counts)
    taken = taken and not (counts and condition.test[0] in _BOUNDS and _is_asked(domain, span, asks_for_the_end))
    if taken != chosen:
        domain.avoided[id(condition)] = condition, taken
    domain.machine.state[_LAST] = condition, span, taken
    return taken


def _is_asked(domain: TraceDomain, span: Span, question: Callable[[SourceFile, Span], bool]) -> bool:
    """Whether ``question`` holds for what stands at ``span``, if that is code of the repository."""
    source = domain.machine.snapshot.source(span.path) if span.path in domain.machine.snapshot.contents else None
    return isinstance(source, SourceFile) and question(source, span)


def _says_what_a_batch_holds(condition: Value) -> bool:
    """Whether the truth of some part of a batch is asked for: ranks have other data, but batches of one kind."""
    if isinstance(condition, Scalar):
        made = condition.tensor.made
        while made is not None and made.op in _TAKEN_OUT and made.tensors:
            made = made.tensors[0].made
        part = made is not None and made.op == "batch" and (made is not condition.tensor.made or made.options.get("whole") is False)
        return part and condition.why == TRUTH
    return isinstance(condition, Castable) and not condition.test and condition.whole is not None and batches_of(condition) is not None


def last_asked(domain: TraceDomain) -> Span | None:
    """Where the flag stands that was asked for last, if it was not turned round already."""
    _, span, _ = domain.machine.state.get(_LAST, (None, None, False))
    return span if isinstance(span, Span) and span not in domain.world.turned else None


def turn_last(domain: TraceDomain) -> bool:
    """Take the other side of the flag that was asked for last from now on: this one led to an exception. Whether there was one to turn."""
    condition, _, taken = domain.machine.state.pop(_LAST, (None, None, False))
    if condition is None or id(condition) in domain.avoided:
        return False
    domain.avoided[id(condition)] = condition, not taken
    return True


def _chosen(domain: TraceDomain, condition: Symbol) -> bool:
    """What the world says: a flag is on or off, a choice among names is the first or the second that is asked for."""
    match condition.test:
        case ("not", Symbol() as inner):
            return not _chosen(domain, inner)
        case ("==" | "is", Symbol() as asked, str() | Instance() as named) | ("==" | "is", str() | Instance() as named, Symbol() as asked):
            return _is_choice(domain, asked, named if isinstance(named, str) else member_name(named))
        case ("in", Symbol() as asked, container):
            return _is_choice(domain, asked, f"in {container!r:.80}")
    return domain.world.flags != _negative(condition)


def _is_choice(domain: TraceDomain, asked: Symbol, name: str) -> bool:
    names = domain.choices.setdefault(id(asked), {})
    names.setdefault(name, len(names))
    return names[name] == (0 if domain.world.flags else 1)


def _counts(condition: Symbol) -> bool:
    """Whether it compares a number with a bound that the source does not tell, as a counter is compared with where it ends."""
    match condition.test:
        case (str() as asked, left, right) if asked in _BOUNDS:
            return isinstance(left, int) != isinstance(right, int)
        case ("not", Symbol() as inner):
            return _counts(inner)
    return False


def _not_leaving(domain: TraceDomain, span: Span, *, chosen: bool, counts: bool) -> bool:
    """The other side if the chosen one only ends the program or a loop, or never enters it: nothing is learnt from a run that stops."""
    source = domain.machine.snapshot.source(span.path) if span.path in domain.machine.snapshot.contents else None
    found = _conditions(source).get((span.start, span.end)) if isinstance(source, SourceFile) else None
    if found is None:
        return chosen
    otherwise: list[ast.stmt] = [ast.Break()] if isinstance(found, ast.While) else found.orelse
    taken, other = (found.body, otherwise) if chosen != domain.machine.negated else (otherwise, found.body)
    ends = [_ends(side, flags=domain.world.flags) or (counts and notes(side)) for side in (taken, other)]
    if ends[0] != ends[1]:
        return not chosen if ends[0] else chosen
    skips = isinstance(source, SourceFile) and skips_training(source, found, taken, other) and domain.is_distributed()
    return not chosen if skips else chosen


@lru_cache(maxsize=4096)
def _conditions(source: SourceFile) -> dict[tuple[int, int], ast.If | ast.While]:
    """The ``if`` and ``while`` statements of a file by the bytes of the conditions that decide them."""
    found: dict[tuple[int, int], ast.If | ast.While] = {}
    for node in walk(source.tree):
        if isinstance(node, (ast.If, ast.While)):
            for place in _deciding(node.test):
                span = source.span(place)
                found[span.start, span.end] = node
    return found


def _deciding(test: ast.expr) -> list[ast.expr]:
    """Where one condition decides the whole: ``a and b`` has the truth of ``b`` once ``a`` holds, ``a or b`` holds where one of them does.

    Whether a file is there says nothing about the configuration, so that it may decide in any place.
    """
    match test:
        case ast.BoolOp(op=ast.And(), values=[*parts, _]):
            return [test, *(part for part in parts if _asks_for_a_file(part))]
        case ast.BoolOp(op=ast.Or(), values=[*parts, _]):
            return [test, *parts]
    return [test]


def _asks_for_a_file(test: ast.expr) -> bool:
    match test:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in FILE_TESTS
    return False


def _ends(body: list[ast.stmt], *, flags: bool) -> bool:
    """Whether a side ends in an exception, the end of the program or of a loop; with all flags on, in a bare return too."""
    match body[-1] if body else None:
        case ast.Raise() | ast.Break():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="exit" | "quit") | ast.Attribute(attr="exit" | "_exit"))):
            return True
        case ast.Return(value=None):
            return flags
    return False


def _negative(condition: Symbol) -> bool:
    """Whether the condition says that something is off or absent; on a fresh machine no file is there yet, no checkpoint to go on from."""
    if condition.why.rpartition(".")[2].partition("(")[0] in FILE_TESTS:
        return True
    match condition.test:
        case ("not", Symbol() as inner):
            return not _negative(inner)
        case ("is", _, None) | ("==", _, None | False | 0 | ""):
            return True
    return False


def _about_absence(condition: Symbol) -> bool:
    """Whether it asks if something was passed at all: to learn what is done to it, it was."""
    match condition.test:
        case ("not", Symbol() as inner):
            return _about_absence(inner)
        case ("is", _, None):
            return True
    return False


def depends_on_data(value: Value, depth: int = 8) -> bool:
    """Whether it varies within a run: read from a tensor, or made inside a loop."""
    match value:
        case Scalar():
            return True
        case Symbol(stamp=stamp, test=test):
            return bool(stamp) or (depth > 0 and any(depends_on_data(part, depth - 1) for part in test[1:]))
        case Alternatives() | Instance() | HostValue():
            return not member_name(value)
    return False


def asks_for_time(value: Value, depth: int = _DEPTH) -> bool:
    """Whether the time goes into a value."""
    match value:
        case Symbol(role=role) if role == TIME:
            return True
        case Symbol(test=test) if depth:
            return any(asks_for_time(part, depth - 1) for part in test[1:])
    return False
