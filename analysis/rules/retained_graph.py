"""A value that outlives its iteration keeps its autograd graph alive.

A loss or an output is attached to the graph that made it. Kept in a sum, a list, a dictionary, a meter or an attribute beyond its
iteration, it keeps that graph too, iteration after iteration: before its backward has run that is every activation, until the
GPU is full; after it, a chain of nodes and tensors that grows with every step.

**How to fix it.** Keep `loss.detach()` (or `loss.item()` where a number is wanted and waiting for the device once per step is
acceptable).

**What is not reported.** Values that a later backward takes up (`sum_of_losses.backward()`, truncated back-propagation, losses
returned to a caller that back-propagates them), values under `no_grad`, containers that are emptied or made anew in every
iteration, a sum over one accumulation window whose parts have been back-propagated, a slot that only holds the last value, activations kept within one forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from analysis.finding import Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance, Stamp
from analysis.library.stores import stamp_of
from analysis.rule import Bad, Good, Rule
from analysis.rules._averages import growing_averages
from analysis.rules._carriers import begins_anew, ends_with_step, lasting, moment, placed
from analysis.rules._keepers import detached, holder_of
from analysis.rules._objects import confidence_in, forward_numbers, numbers_in
from analysis.rules._set_anew import may_begin_anew
from analysis.rules._statements import behind_dispatch
from analysis.rules._untold_graphs import confidence_in_graph
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, meeting, visible, within
from analysis.trace.reading import text


@dataclass(frozen=True, slots=True)
class Kept:
    """A STORE of a value whose graph was made in an iteration that the holder outlives.

    ``forward`` made the graph; ``backward`` goes through it in the same iteration, if any does. ``inside``: the store happens in that forward.
    """

    store: Event
    forward: Event
    backward: Event | None
    inside: bool


def check(trace: Trace) -> Iterator[Reported]:
    """Stores that grow by a graph in every iteration, which nothing takes up later."""
    told: set[tuple[Span, ...]] = set()
    found = ((each.store, _reported(trace, each)) for each in _kept(trace))
    for store, reported in chain(found, ((store, _average(trace, store)) for store in growing_averages(trace))):
        if frames(store) not in told:
            told.add(frames(store))
            yield reported


def _kept(trace: Trace) -> Iterator[Kept]:
    forwards = {number: event for event in trace.events(Kind.FORWARD) for number in forward_numbers(event)}
    backwards = [(event, numbers_in([event.value])) for event in trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL)]
    calls = {frames(event): event for event in forwards.values()}
    returned = numbers_in([trace.result])
    taken_up: set[tuple[Span, ...]] = set()
    for store in trace.events(Kind.STORE):
        if not (store.detail.outlives and store.detail.grows):
            continue
        made = {number: since for number in numbers_in([store.value]) if number in forwards and (since := moment(store, forwards[number]))}
        running = _running_forward(store, calls)
        if not made or _is_local_to(running, store):
            continue
        newest = max(made, key=lambda number: (len(made[number]), number))
        through = [event for event, reached in backwards if not reached.isdisjoint(made)]
        if through and may_begin_anew(trace, store, through[0]):
            continue
        outwards = list(lasting(trace, store, made[newest]))
        iteration = next((each for each in outwards if any(within(event.context.stamp, each) for event, _ in backwards)), None)
        if iteration and not all(within(event.context.stamp, iteration) for event in through):
            taken_up.add(frames(store))  # by a later iteration: only where the rehearsal ends none comes
        elif iteration and frames(store) not in taken_up and not _emptied(trace, store, iteration):
            backward = min(through, key=lambda event: event.kind is Kind.GRADIENT_CALL, default=None)  # gradients that go on into the loss end nothing
            if returned.isdisjoint(made) if backward is None else not begins_anew(trace, store) and not ends_with_step(trace, outwards):
                yield Kept(store, forwards[newest], backward, running is not None)


def _running_forward(store: Event, calls: Mapping[tuple[Span, ...], Event]) -> Event | None:
    """The forward inside which the store happens."""
    way = frames(store)
    return next((calls[way[:length]] for length in range(1, len(way)) if way[:length] in calls), None)


def _is_local_to(forward: Event | None, store: Event) -> bool:
    """Whether the holder was made inside that forward: it goes when the forward ends."""
    if forward is None or isinstance(store.subject, Instance):
        return False
    return within(stamp_of(store.subject), store.context.stamp[: len(forward.context.stamp)])


def _emptied(trace: Trace, store: Event, iteration: Stamp) -> bool:
    """Whether the holder is emptied again before the iteration ends."""
    return any(event.subject is store.subject and within(event.context.stamp, iteration) for event in trace.events(Kind.CLEAR))


def _reported(trace: Trace, kept: Kept) -> Reported:
    files = trace.snapshot.contents
    stored = visible(kept.store, files)
    span = stored if kept.inside else behind_dispatch(trace.snapshot, meeting(kept.store, kept.backward or kept.forward, files), stored)
    holder = holder_of(kept.store)
    if kept.backward is None:
        severity, effect = Severity.ERROR, "no backward ever frees it, so that all activations of every iteration stay in memory"
    else:
        severity, effect = Severity.WARNING, "its backward has run or runs in the same iteration, and what is left of it piles up"
    steps = [Evidence(visible(kept.forward, files), "this forward makes the graph")]
    put = placed(trace.snapshot, kept.store.value) if kept.store.detail.part else None
    if put is not None:
        steps.append(Evidence(put, "the value goes with its graph into a dictionary"))
    steps.append(Evidence(stored, f"{'it' if put else 'the value'} is kept in {holder}, which outlives the iteration"))
    if kept.backward is not None:
        steps.append(Evidence(visible(kept.backward, files), "the only backward through the graph runs here, in the same iteration"))
    here = f"`{text(trace.snapshot, span)}`"
    message = f"{here} keeps a value with its autograd graph {'' if here == holder else f'in {holder} '}beyond the iteration: {effect}"
    finding = Finding(RULE.name, severity, confidence_in_graph(trace, kept.store.value, kept.forward.subject), span, message, tuple(steps))
    return detached(trace, finding, kept.store, put)


def _average(trace: Trace, store: Event) -> Reported:
    span = visible(store, trace.snapshot.contents)
    holder = holder_of(store)
    finding = Finding(
        RULE.name,
        Severity.WARNING,
        confidence_in(*(owner for owner in store.value.owners if isinstance(owner, Instance))),
        span,
        f"`{text(trace.snapshot, span)}` keeps weights with their autograd graph in {holder}, with what was kept before: the graph grows with every step",
        (Evidence(span, f"the value is made of parameters and of what {holder} held, with the graph of both"),),
        no_fix_because="no single expression here is known to be what has to be detached: run the update under torch.no_grad()",
    )
    return Reported(finding)


_AVERAGED = """
import torch

class Average:
    def __init__(self, model):
        self.kept = {{name: p.data.clone() for name, p in model.named_parameters()}}
{decorator}
    def update(self, model):
        for name, p in model.named_parameters():
            self.kept[name] = 0.99 * self.kept[name] + 0.01 * p{mark}

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    average = Average(model)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        average.update(model)
"""

_HOOKED = """
import torch
from collections import defaultdict

def train(loader):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    kept = defaultdict(list)
    for name, layer in model.named_modules():
        layer.register_forward_hook(lambda layer, given, output, name=name: kept[name].append({kept})){mark}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""

RULE = Rule(
    "retained-graph",
    Severity.ERROR,
    "a value that outlives its iteration keeps its autograd graph alive",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss)  # flagged
    return sum(h.item() for h in history)
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    return sum(h.item() for h in history)
""",
        ),
        Bad(
            """
import torch

class Meter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value):
        self.sum += value
        self.count += 1

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    meter = Meter()
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss)  # flagged
    print(meter.sum / meter.count)
""",
            fixed="""
import torch

class Meter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value):
        self.sum += value
        self.count += 1

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    meter = Meter()
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss.detach())
    print(meter.sum / meter.count)
""",
        ),
        Bad(_AVERAGED.format(decorator="", mark="  # flagged")),
        Good(_AVERAGED.format(decorator="\n    @torch.no_grad()", mark="")),
        Bad(_HOOKED.format(kept="output", mark="  # flagged"), fixed=_HOOKED.format(kept="output.detach()", mark="")),
        Good(
            """
import torch
def train(model, loader, steps=100):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        losses = []
        for x, y in loader:
            losses.append(torch.nn.functional.mse_loss(model(x), y))
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

class Trainer:
    def fit(self, model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        running = 0.0
        for x, y in loader:
            self.last_loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            self.last_loss.backward()
            optimizer.step()
            running += self.last_loss.item()
        return running
"""
        ),
    ),
)
