"""Schedules that stay behind, and lengths that count the ranks. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.interpreter.values import Instance, Symbol, Value
from analysis.library.optimizers import PREPARED
from analysis.library.ranks import WORLD_SIZE
from analysis.library.schedulers import schedules_of
from analysis.rules._hand_written import HandWritten
from analysis.rules._objects import Concern, concern, confidence_in, distinct, optimizers
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, call_at, text

RULE_NAME = "scheduler-interval"

#: The options that count steps.
LENGTHS = ("total_steps", "T_max", "num_training_steps", "total_iters")
#: Parts of names by which programs mean the number of ranks.
_NAMES = ("world", "process", "ranks", "gpu", "device")


def length_of(scheduler: Instance) -> Value:
    """The number of steps that a schedule is told; None: none."""
    options: dict[str, Value] = scheduler.fields.get("scheduler: options", {})
    match options:
        case {"schedulers": [*_, Instance() as last], "milestones": [*_, begins]}:
            return _sum(begins, length_of(last))
        case {"epochs": int(epochs), "steps_per_epoch": int(steps)}:
            return epochs * steps
        case {"epochs": (int() | Symbol()) as epochs, "steps_per_epoch": (int() | Symbol()) as steps}:
            product = Symbol("the number of steps", scheduler.span)
            product.test = ("*", epochs, steps)
            return product
    return next((options[name] for name in LENGTHS if options.get(name) is not None), None)


def _sum(begins: Value, rest: Value) -> Value:
    """How long schedules take one after the other, of which the last begins at ``begins`` and takes the ``rest``; None: it is not told."""
    match rest:
        case Symbol(test=("-", whole, less)) if less is begins or (isinstance(less, int) and less == begins):
            return whole
        case int() if isinstance(begins, int):
            return begins + rest
    return None


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """``schedule`` never moves, though its ``optimizer`` steps; ``step`` moves the schedule of another optimizer that was built in the same place."""

    schedule: Instance
    optimizer: Instance
    step: Event


def left_behind(trace: Trace) -> Iterator[LeftBehind]:
    """Schedules of several optimizers built by one line, of which only those of some move."""
    steps = list(trace.events(Kind.SCHEDULER_STEP))
    moved = {id(each) for each in distinct(event.subject for event in steps)}
    stepped = optimizers(trace)
    for optimizer in stepped:
        schedules = schedules_of(optimizer)
        if not schedules or any(id(each) in moved for each in schedules):
            continue
        alike = [other for other in stepped if other is not optimizer and other.span == optimizer.span and _in_turns(trace, optimizer, other)]
        found = {id(each) for other in alike for each in schedules_of(other)}
        step = next((event for event in steps if id(event.subject) in found), None)
        if step is not None:
            yield LeftBehind(schedules[0], optimizer, step)


def _in_turns(trace: Trace, one: Instance, other: Instance) -> bool:
    """Whether two optimizers step in the same training, and not one after the other, in two runs of it."""
    order = [
        concern(event.subject, one) is Concern.YES
        for event in trace.events(Kind.STEP)
        if Concern.YES in (concern(event.subject, each) for each in (one, other))
    ]
    return order != sorted(order) and order != sorted(order, reverse=True)


def counts_ranks(trace: Trace, scheduler: Instance) -> bool:
    """Whether the length of a schedule that nothing prepared is a number of steps times the number of ranks."""
    if not trace.distributed or PREPARED in scheduler.fields or scheduler.span is None or scheduler.span.path not in trace.snapshot.contents:
        return False
    options: dict[str, Value] = scheduler.fields.get("scheduler: options", {})
    call = call_at(trace.snapshot, scheduler.span)
    given = {keyword.arg: keyword.value for keyword in call.keywords} if call is not None else {}
    return any(_is_product(options.get(name)) and _multiplies_ranks(given.get(name)) for name in LENGTHS)


def counted_in_batches(trace: Trace, scheduler: Instance) -> bool:
    """Whether the length is written as something of a ``len()``: what the rehearsal makes of it may equal the number of epochs by accident."""
    call = call_at(trace.snapshot, scheduler.span) if scheduler.span is not None else None
    stands = around(trace.snapshot, scheduler.span) if scheduler.span is not None else None
    written = [keyword.value for keyword in call.keywords if keyword.arg in LENGTHS] if call is not None else []
    names = {each.id for each in written if isinstance(each, ast.Name)}
    assigned = (node for node in ast.walk(stands.function) if isinstance(node, ast.Assign)) if stands is not None and stands.function is not None else ()
    written += [node.value for node in assigned if any(isinstance(each, ast.Name) and each.id in names for each in node.targets)]
    return any(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" for each in written for node in ast.walk(each))


def _is_product(length: Value) -> bool:
    match length:
        case Symbol(test=("*", left, right)):
            return WORLD_SIZE in (left, right) if isinstance(left, int) or isinstance(right, int) else False
    return False


def _multiplies_ranks(written: ast.expr | None) -> bool:
    return isinstance(written, ast.BinOp) and isinstance(written.op, ast.Mult) and (names_ranks(written.left) or names_ranks(written.right))


def names_ranks(written: ast.expr) -> bool:
    """Whether it is called as programs call the number of ranks."""
    return isinstance(written, (ast.Name, ast.Attribute, ast.Call)) and any(word in ast.unparse(written).lower() for word in _NAMES)


def stays_behind(trace: Trace, found: LeftBehind) -> Finding:
    """What is said of schedules that never move."""
    files = trace.snapshot.contents
    span = visible(found.step, files)
    built = [Evidence(found.schedule.span, "each optimizer gets a schedule")] if found.schedule.span is not None and found.schedule.span.path in files else []
    moves = next(event for event in trace.events(Kind.STEP) if concern(event.subject, found.optimizer) is Concern.YES)
    says = f"`{text(trace.snapshot, span)}` moves the schedule of one optimizer only: the others that are built in the same way keep their first learning rate"
    chain = (*built, Evidence(visible(moves, files), "an optimizer steps whose schedule never does"), Evidence(span, "the schedule of another is stepped here"))
    why = "the schedule has to be stepped where its optimizer is, inside the loop over them"
    return Finding(RULE_NAME, Severity.ERROR, confidence_in(found.optimizer), span, says, chain, no_fix_because=why)


def times_ranks(trace: Trace, scheduler: Instance, span: Span) -> Finding:
    """What is said of a length that counts the ranks."""
    step = next(event for event in trace.events(Kind.SCHEDULER_STEP) if concern(event.subject, scheduler) is not Concern.NO)
    says = "the schedule's length counts the steps of all ranks, but every rank has a schedule of its own, which moves once per step: it hardly gets anywhere"
    chain = (
        Evidence(span, "the number of steps is multiplied by the number of ranks"),
        Evidence(visible(step, trace.snapshot.contents), "it is stepped here, on each rank"),
    )
    why = "leave the number of ranks out of both the length and the warm-up, unless Accelerate prepares the schedule"
    return Finding(RULE_NAME, Severity.ERROR, Confidence.MEDIUM, span, says, chain, no_fix_because=why)


def counts_on(trace: Trace, found: HandWritten) -> Finding:
    """What is said of a learning rate that counts batches and is told the number of epochs, or the other way round."""
    if found.counted == "batches":
        says = "it counts batches, but its length is the number of epochs: it has come to its end within the first epoch"
        chain = (Evidence(found.length, "so many epochs are run"), Evidence(found.span, "the learning rate is computed for each batch"))
        why = "the length has to be the number of batches in all epochs, or the counter has to count epochs"
    else:
        says = "it counts epochs, but its length is the number of batches in all of them: it never comes further than its beginning"
        chain = (Evidence(found.length, "the length is counted in batches"), Evidence(found.span, "the learning rate is computed for each epoch"))
        why = "the counter has to count batches, or the length has to be the number of epochs"
    return Finding(RULE_NAME, Severity.ERROR, Confidence.HIGH, found.span, f"`{text(trace.snapshot, found.span)}`: {says}", chain, no_fix_because=why)
