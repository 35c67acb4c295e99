"""Collectives that not all ranks reach: which, behind which condition, and where to say so. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from analysis.interpreter.own_items import HAS_ITEMS
from analysis.interpreter.values import Symbol
from analysis.library.decisions import FILE_TESTS
from analysis.library.distributed import GROUP_PLACES
from analysis.library.ranks import asks_for_rank
from analysis.rules._met_elsewhere import is_met_elsewhere
from analysis.source import Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind, RankGuard
from analysis.trace.places import frames, visible
from analysis.trace.reading import around, call_at, runs_decorated, span_of

#: Saves of sharded models and engines: functions of a framework that every rank has to call.
SAVES = frozenset(
    {
        "deepspeed checkpoint",
        "accelerator.save_state",
        "accelerator.load_state",
        "distributed checkpoint",
        "distributed state dict",
        "fabric.save",
        "Trainer.save_checkpoint",
    }
)

#: What a collective calls its group.
_GROUPS = frozenset({"group", "process_group"})


def by_rank(guard: RankGuard) -> bool:
    """Whether the condition asks for the rank: not data that differs between ranks."""
    return guard.zero is not guard.others or asks_for_rank(guard.condition)


def in_whole_group(trace: Trace, event: Event) -> bool:
    """Whether all ranks take part: no group of its own was given.

    What a function or an object gives may be one that is set up elsewhere, of which the run knows no more than that it is None at first.
    """
    call = call_at(trace.snapshot, event.span)
    given = _given_group(trace, event, call) if call is not None else None
    if isinstance(given, ast.Attribute) and given.attr == "WORLD":
        return True
    known = event.detail.get("group") if isinstance(event.detail, dict) else None
    return known is None and not isinstance(given, ast.Call | ast.Attribute)


def _given_group(trace: Trace, event: Event, call: ast.Call) -> ast.expr | None:
    """What stands in the call for its group: where that is a variable, what the function has put into it, if it was put there once."""
    place = GROUP_PLACES.get(event.subject, len(call.args))
    given = next((each.value for each in call.keywords if each.arg in _GROUPS), call.args[place] if place < len(call.args) else None)
    stands = around(trace.snapshot, event.span) if isinstance(given, ast.Name) else None
    if stands is None or stands.function is None:
        return given
    found = [node.value for node in walk(stands.function) if isinstance(node, ast.Assign) and _names(node.targets) == [getattr(given, "id", None)]]
    return found[0] if len(found) == 1 else given


def _names(targets: list[ast.expr]) -> list[str]:
    return [each.id for each in targets if isinstance(each, ast.Name)]


def has_own_items(guard: RankGuard) -> bool:
    """Whether the condition is that this rank has any items: within a smaller group too each rank has its own."""
    condition = guard.condition
    while isinstance(condition, Symbol) and condition.test and condition.test[0] == "not":
        condition = condition.test[1]
    return isinstance(condition, Symbol) and condition.role == HAS_ITEMS


def guarded(trace: Trace, wanted: Callable[[RankGuard], bool]) -> Iterator[tuple[Event, RankGuard]]:
    """Collectives that are behind a condition which ranks answer differently, with the innermost that is ``wanted``; each condition once."""
    told: set[tuple[bool, Span]] = set()
    partners, sides = _reached_by(trace), _on_sides(trace)
    for event in trace.events(Kind.COLLECTIVE):
        guard = next((each for each in reversed(event.context.rank_guards) if wanted(each)), None)
        if guard is None or not (in_whole_group(trace, event) or has_own_items(guard)) or (event.subject in SAVES, guard.span) in told:
            continue
        partnered = _has_partner(trace, event, guard, partners) or (event.subject, event.context.function, guard.span, not guard.until) in sides
        if not partnered and not is_met_elsewhere(trace, event, guard) and not gives_up(trace, guard):
            told.add((event.subject in SAVES, guard.span))
            yield event, guard


def gives_up(trace: Trace, guard: RankGuard) -> bool:
    """Whether the ranks that left have returned a negative number: the program reports an error there, as by an exception, and means to end."""
    stands = around(trace.snapshot, guard.exit) if guard.until == "return" and guard.exit is not None else None
    match stands.statement if stands is not None else None:
        case ast.Return(value=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            return True
    return False


def _reached_by(trace: Trace) -> set[tuple[str, str, Span, bool, bool]]:
    """Each guarded collective with its function, its condition, whether rank 0 is who reaches it, and whether a file decides if it does."""
    return {
        (event.subject, event.context.function, guard.span, _keeps_zero(guard), _asks_for_file(trace, event, guard))
        for event in trace.events(Kind.COLLECTIVE)
        for guard in event.context.rank_guards
        if guard.zero is not guard.others
    }


def _on_sides(trace: Trace) -> set[tuple[str, str, Span, bool]]:
    """Each guarded collective with its function, its condition and whether those reach it who leave the function, or the iteration, behind the condition."""
    return {
        (event.subject, event.context.function, guard.span, bool(guard.until))
        for event in trace.events(Kind.COLLECTIVE)
        for guard in event.context.rank_guards
        if guard.zero is guard.others
    }


def _keeps_zero(guard: RankGuard) -> bool:
    """Whether rank 0 is who gets past, or may: the others surely do not."""
    return guard.zero is True or guard.others is False


def _has_partner(trace: Trace, event: Event, guard: RankGuard, partners: set[tuple[str, str, Span, bool, bool]]) -> bool:
    """Whether the ranks that do not come here call the same collective: in the same function, or on the other side of the condition."""
    zero, asks = _keeps_zero(guard), _asks_for_file(trace, event, guard)
    return any(
        subject == event.subject
        and reached_by_zero is not zero
        and ((function == event.context.function and span != guard.span) or (span == guard.span and asked is asks))
        for subject, function, span, reached_by_zero, asked in partners
    )


def _asks_for_file(trace: Trace, event: Event, guard: RankGuard) -> bool:
    """Whether a condition inside the guarded block asks if a file is there: some runs pass the collective by, whoever the other ranks are."""
    inwards = frames(event)[len(guard.path) :] if event.path[: len(guard.path)] == guard.path else ()
    stands = around(trace.snapshot, inwards[0]) if inwards and inwards[0].path == guard.span.path else None
    inner = [each.test for each in stands.statements if isinstance(each, ast.If)] if stands is not None else []
    after = next((inner[k + 1 :] for k, test in enumerate(inner) if span_of(trace.snapshot, guard.span.path, test) == guard.span), [])
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILE_TESTS for test in after for node in ast.walk(test)
    )


def place(trace: Trace, event: Event, guard: RankGuard) -> Span:
    """Where the event stands in the function that holds the condition: itself, or the call that leads to it; where ranks leave a loop, where they do.

    Of a condition that a decorator brings, in the function that is decorated.
    """
    files = trace.snapshot.contents
    if guard.until == "break" and guard.exit is not None:
        return guard.exit
    inwards = frames(event)[len(guard.path) :] if event.path[: len(guard.path)] == guard.path else frames(event)
    found = [span for span in inwards if span.path in files]
    if len(found) > 1 and runs_decorated(trace.snapshot, found[0]):
        del found[0]
    return next(iter(found), visible(event, files))


def who(guard: RankGuard) -> str:
    """The ranks that get past the condition, in words."""
    if guard.zero is True and guard.others is False:
        return "rank 0 alone"
    if guard.zero is False and guard.others is True:
        return "all ranks but rank 0"
    return "only some ranks"
