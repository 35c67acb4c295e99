"""How a schedule is stepped beside its optimizer: with every batch, or once per epoch. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.interpreter.values import Instance, Symbol, Value
from analysis.rules._objects import Concern, concern
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible, within
from analysis.trace.reading import around, call_at

#: So many steps of an optimizer between two of its schedule make an epoch, and so many batches.
SEVERAL = 3
#: An epoch has some hundred batches; by how much less the learning rate may be after so many; PyTorch's defaults.
_BATCHES, _NOTHING, _GAMMA, _HALF_CYCLE = 200, 0.01, 0.1, 2000


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a schedule is stepped: ``epochs`` says how often the loop around its step's rhythm runs, ``batches`` the optimizer's steps in each round."""

    step: Event
    optimizer_step: Event
    per_epoch: bool
    epochs: Value
    batches: int


def rhythm_of(trace: Trace, scheduler: Instance) -> Rhythm | None:
    """The rhythm of the first two rounds, if every schedule's step belongs to a loop that steps its optimizer."""
    steps = [event for event in trace.events(Kind.SCHEDULER_STEP) if concern(event.subject, scheduler) is Concern.YES]
    optimizer = scheduler.fields.get("optimizer")
    updates = [event for event in trace.events(Kind.STEP) if concern(event.subject, optimizer) is Concern.YES]
    if not updates or not isinstance(optimizer, Instance) or any(trace.undecided(event) or event.span != steps[0].span for event in steps):
        return None
    inner = updates[0].context.stamp
    if len(inner) < 2 or not trace.complete:  # noqa: PLR2004  epochs and batches
        return None
    epoch = inner[:-1]
    in_first = [event for event in updates if within(event.context.stamp, epoch)]
    stepped = [event for event in steps if within(event.context.stamp, epoch)]
    loop = trace.loop(epoch[-1][0])
    if loop is None or len(in_first) < SEVERAL or any(trace.undecided(event) for event in in_first):
        return None
    if len(stepped) == len(in_first):
        return Rhythm(steps[0], in_first[0], per_epoch=False, epochs=loop.stop, batches=len(in_first))
    if len(stepped) == 1 and (stepped[0].context.stamp == epoch or stepped[0].context.stamp[len(epoch)][0] != inner[-1][0]):
        return Rhythm(steps[0], in_first[0], per_epoch=True, epochs=loop.stop, batches=len(in_first))
    return None


#: What is wrong where an update takes several micro-batches, as the second half of a sentence.
_TOO_SLOW = "its length counts micro-batches, but it is stepped once per update of several: it never gets beyond its first part"
_TOO_FAST = "its length counts updates, but it is stepped with every micro-batch of an update: it is over, or begins again, long before the training ends"


def rhythm_of_micro_batches(trace: Trace, scheduler: Instance, length: Value) -> tuple[Rhythm, str] | None:
    """Where an update takes several micro-batches: the rhythm of a schedule that counts the one and moves with the other, and what is wrong with it."""
    optimizer = scheduler.fields.get("optimizer")
    steps = [event for event in trace.events(Kind.SCHEDULER_STEP) if concern(event.subject, scheduler) is Concern.YES]
    updates = [event for event in trace.events(Kind.STEP) if concern(event.subject, optimizer) is Concern.YES]
    if not steps or not updates or any(trace.undecided(event) or len(event.context.stamp) < 2 for event in (*steps, *updates)):  # noqa: PLR2004  epochs, batches
        return None
    epoch, (inner, first) = updates[0].context.stamp[:-1], updates[0].context.stamp[-1]
    moved, updated = ([event for event in events if within(event.context.stamp, epoch)] for events in (steps, updates))
    outer, loop = trace.loop(epoch[-1][0]), trace.loop(inner)
    batches = len(loop.iterations) if loop is not None else 0
    if outer is None or not 0 < len(updated) <= batches // 2 or not moved or moved[0].context.stamp[-1][0] != inner:
        return None
    rhythm = Rhythm(moved[0], updated[0], per_epoch=False, epochs=outer.stop, batches=batches)
    if len(moved) == len(updated) and _is_product(length, batches, outer.stop):
        return rhythm, _TOO_SLOW
    if len(moved) == batches and (_is_share(length, batches, outer.stop, first + 1) or _ends_by_updates(trace, scheduler, moved[0])):
        return rhythm, _TOO_FAST
    return None


def _ends_by_updates(trace: Trace, scheduler: Instance, step: Event) -> bool:
    """Whether the loop around a schedule's step ends when a number that is counted up in a branch of it has come to the schedule's length."""
    built = call_at(trace.snapshot, scheduler.span) if scheduler.span is not None else None
    stands = around(trace.snapshot, visible(step, trace.snapshot.contents))
    if built is None or stands is None or stands.function is None:
        return False
    given = (*built.args, *(keyword.value for keyword in built.keywords))
    lengths = {ast.unparse(each) for each in given if isinstance(each, (ast.Name, ast.Attribute))}
    nodes = list(walk(stands.function))
    everywhere = list(_counted_up([stands.function]))
    inside = [name for branch in nodes if isinstance(branch, ast.If) for name in _counted_up(branch.body)]
    counted = {name for name in inside if everywhere.count(name) <= inside.count(name)}
    compared = (node for node in nodes if isinstance(node, ast.Compare) and len(node.comparators) == 1)
    pairs = (pair for node in compared for pair in ((node.left, node.comparators[0]), (node.comparators[0], node.left)))
    return any(isinstance(left, ast.Name) and left.id in counted and ast.unparse(right) in lengths for left, right in pairs)


def _counted_up(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names of ``name += 1`` in the statements."""
    for part in body:
        for node in walk(part):
            match node:
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
                    yield name


def _is_product(length: Value, one: Value, other: Value) -> bool:
    """Whether a number is the product of the two."""
    match length:
        case Symbol(test=("*", left, right)):
            return any(left is a and right is b for a, b in ((one, other), (other, one)))
    return isinstance(length, int) and isinstance(one, int) and isinstance(other, int) and length == one * other


def _is_share(length: Value, batches: int, epochs: Value, window: int) -> bool:
    """Whether a number counts the updates of so many micro-batches each, in all epochs."""
    if isinstance(length, int):
        return isinstance(epochs, int) and length in {epochs * batches // window, epochs * (batches // window), epochs * -(-batches // window)}
    match length:
        case Symbol(test=("int()", inner)):
            return _is_share(inner, batches, epochs, window)
        case Symbol(test=("//" | "/", whole, by)):
            return (by == window or isinstance(by, Symbol)) and _is_product(whole, batches, epochs)
        case Symbol(test=("*", left, right)):
            return any(a is epochs and _is_share(b, batches, 1, window) for a, b in ((left, right), (right, left)))
    return False


def passed_at_once(scheduler: Instance, epochs: Value) -> str | None:
    """What is wrong with a schedule that moves with every batch and whose steps are meant for epochs, as the second half of a sentence."""
    match scheduler.cls.name, scheduler.fields.get("scheduler: options"):
        case "MultiStepLR", {"milestones": [*_, int(last)]} if isinstance(epochs, int) and SEVERAL < last <= epochs:
            return "its milestones are counted in epochs, but it is stepped with every batch: they are passed within the first epochs"
        case "StepLR" | "ExponentialLR", {**options}:
            every, gamma = options.get("step_size", 1), options.get("gamma", _GAMMA)
            if isinstance(every, int) and isinstance(gamma, float) and 0 < gamma < 1 and gamma ** (_BATCHES // max(every, 1)) < _NOTHING:
                after = f"{every} batches" if every > 1 else "batch"
                return f"it multiplies the learning rate by {gamma} every {after}: within the first epoch nothing is left of it"
    return None


def is_cycle_of_batches(scheduler: Instance, epochs: Value) -> bool:
    """Whether half a cycle takes more steps than there are epochs: 2000 if it is not told otherwise."""
    half = scheduler.fields.get("scheduler: options", {}).get("step_size_up", _HALF_CYCLE)
    return scheduler.cls.name == "CyclicLR" and isinstance(half, int) and half > (epochs if isinstance(epochs, int) else _BATCHES)
