"""Recurrent state goes from one training step into the next with its graph.

The state that a model returns for one batch is fed in with the next, or features of a batch are kept to be compared with those of later
ones. Still attached, they lead the next backward into the graph of the batch before, which its own backward has freed: PyTorch raises
"Trying to backward through the graph a second time". With `retain_graph=True` each step goes back to the very first batch, until memory is
full or the optimizer's changes in place are noticed.

**How to fix it.** Detach the state between the steps: `state = state.detach()`, for a tuple each part of it.

**What is not reported.** State that is detached, or made anew for each batch; state of a layer that nobody is seen to use, if another of its
methods sets it; several forwards before one backward (truncated back-propagation in time).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertBefore, Proposal, Reported
from analysis.interpreter.values import Instance, Stamp
from analysis.library.tensor import Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in, forward_numbers, numbers_in
from analysis.rules._set_anew import may_begin_anew
from analysis.rules._sources import attached_in
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, visible
from analysis.trace.reading import statement_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """Backwards that reach a forward of an earlier iteration whose graph that iteration's backward has used."""
    forwards: dict[int, Event] = {}
    for event in trace.events(Kind.FORWARD):
        for number in forward_numbers(event):
            forwards.setdefault(number, event)  # later ones may hold it too: the state brought it
    freed: dict[int, Event] = {}
    told: set[Span] = set()
    for backward in trace.events(Kind.BACKWARD):
        numbers = numbers_in([backward.value])
        for number in sorted(numbers & freed.keys()):
            forward = forwards.get(number)
            store = _carrying(trace, forward, freed[number], backward) if forward is not None else None
            place = _line(trace, store) if store is not None else None
            if forward is not None and store is not None and place is not None and place not in told and not may_begin_anew(trace, store, backward):
                told.add(place)
                yield _reported(trace, forward, store, backward)
        for number in numbers:
            freed.setdefault(number, backward)


def _line(trace: Trace, store: Event) -> Span:
    """One statement may carry several parts of a state."""
    span = visible(store, trace.snapshot.contents)
    return statement_of(trace.snapshot, span) or span


def _carrying(trace: Trace, forward: Event, first: Event, again: Event) -> Event | None:
    """The store that carried the graph from the iteration of its forward and first backward into that of another."""
    made = forward.context.stamp
    if not _earlier(made, again.context.stamp) or not _earlier(first.context.stamp, again.context.stamp):
        return None
    numbers = forward_numbers(forward)
    stores = [event for event in trace.events(Kind.STORE) if not numbers.isdisjoint(numbers_in([event.value]))]
    taken_in = (event for event in stores if event.detail.since is not None and _between(made, event.detail.since, event.context.stamp))
    found = next(taken_in, None) or _gone_through_twice(stores, first, again)
    return None if found is not None and _began_as_table(trace, forward) else found


def _began_as_table(trace: Trace, forward: Event) -> bool:
    """Whether something was given to the first forward in whose place later ones get what came out: a table that each of them writes to."""
    first, *later = [tuple(event.detail or ()) for event in trace.events(Kind.FORWARD) if event.span == forward.span]
    tables = [place for place, given in enumerate(first) if isinstance(given, (dict, list)) and not any(True for _ in tensors_in(given))]
    return any(isinstance(given[place], Tensor) for given in later for place in tables if place < len(given))


def _gone_through_twice(stores: list[Event], first: Event, again: Event) -> Event | None:
    """The store, in something that outlives the iteration, of a value whose own operation both backwards go through.

    What is written into a part of a tensor is none: caches for generation are, by a model that trains without them.
    """
    whole = (event for event in stores if event.detail.outlives and event.detail.since is None and not isinstance(event.subject, Tensor))
    kept = [event for event in whole if event.value.made is not None and not _earlier(first.context.stamp, event.context.stamp)]
    twice = attached_in(first.value) & attached_in(again.value) if kept else frozenset()
    return next((event for event in kept if event.value.made in twice), None)


def _earlier(before: Stamp, now: Stamp) -> bool:
    """Whether ``before`` lies in an earlier iteration of a loop in which ``now`` lies too."""
    for old, new in zip(before, now, strict=False):
        if old != new:
            return old[0] == new[0] and old[1] < new[1]
    return False


def _between(made: Stamp, since: Stamp, now: Stamp) -> bool:
    """Whether what was made then was taken from one iteration into a later one of the loop in which it came to be: not within one of them."""
    level = next((place for place, (old, new) in enumerate(zip(made, now, strict=False)) if old != new), len(made))
    return _earlier(made, now) and since[: level + 1] != now[: level + 1]


def _reported(trace: Trace, forward: Event, store: Event, backward: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(store, files)
    kept = (backward.detail or {}).get("retain_graph") is True
    effect = "goes back through all batches before it" if kept else "goes through the graph of the batch before, which is freed"
    recurrent = store.detail.since is not None
    what = "recurrent state" if recurrent else "a value"
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(forward.subject),
        span,
        f"`{text(trace.snapshot, span)}` carries {what} into the next training step with its graph: the next backward {effect}",
        (
            Evidence(visible(forward, files), "a forward takes in the state and gives a new one" if recurrent else "a forward makes the value"),
            Evidence(span, "which is kept for the next batch, still attached"),
            Evidence(visible(backward, files), f"so that this backward {effect}"),
        ),
    )
    line, place = _cut(store), statement_of(trace.snapshot, store.span)
    if line is None or place is None or store.span.path not in files:
        return Reported(replace(finding, no_fix_because="the state has no plain name here: detach it between two training steps"))
    title = "Is the gradient meant to stop at the start of each batch? Then detach the state before it is used"
    return Reported(finding, Proposal(title, Safety.REVIEW, (InsertBefore(place, (line,)),)))


def _cut(store: Event) -> str | None:
    """The statement that detaches the slot: an LSTM's state is a tuple, the others' a tensor, that of a model is not known."""
    key = store.detail.key
    layer = _layer(store.value)
    if not isinstance(key, str) or not key.isidentifier() or layer is None or (isinstance(store.subject, Instance) and not _in_method(store)):
        return None
    slot = f"self.{key}" if isinstance(store.subject, Instance) else key
    return f"{slot} = tuple(part.detach() for part in {slot})" if layer == "lstm" else f"{slot} = {slot}.detach()"


def _layer(state: Tensor) -> str | None:
    """The recurrent layer that gave the state."""
    made = state.made
    if made is not None and made.op == "getitem" and isinstance(made.inputs[0], Tensor):
        made = made.inputs[0].made
    return made.op if made is not None and made.op in {"lstm", "gru", "rnn", "grucell", "rnncell"} else None


def _in_method(store: Event) -> bool:
    return "." in store.context.function and bool(frames(store))


_QUEUE = """
import torch
from torch import nn

def train(encoder, loader):
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    queue = []
    for x, y in loader:
        queries, keys = encoder(x), encoder(y)
        scores = queries @ torch.cat([keys, *queue]).t()
        optimizer.zero_grad()
        nn.functional.cross_entropy(scores, torch.arange(len(x))).backward()
        optimizer.step()
        queue.append({kept}){mark}
        if len(queue) > 8:
            queue.pop(0)
"""

RULE = Rule(
    "hidden-state-graph",
    Severity.ERROR,
    "recurrent state goes from one training step into the next with its graph",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16), nn.Linear(16, 1)
        self.state = (torch.zeros(1, 4, 16), torch.zeros(1, 4, 16))

    def forward(self, x):
        y, self.state = self.lstm(x, self.state)  # flagged
        return self.head(y)

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16), nn.Linear(16, 1)
        self.state = (torch.zeros(1, 4, 16), torch.zeros(1, 4, 16))

    def forward(self, x):
        self.state = tuple(part.detach() for part in self.state)
        y, self.state = self.lstm(x, self.state)
        return self.head(y)

def train(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
        ),
        Bad(
            """
import torch
from torch import nn

def train(loader):
    rnn, head = nn.GRU(8, 16), nn.Linear(16, 1)
    optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    state = torch.zeros(1, 4, 16)
    for x, y in loader:
        out, state = rnn(x, state)  # flagged
        optimizer.zero_grad()
        nn.functional.mse_loss(head(out), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch import nn

def train(loader):
    rnn, head = nn.GRU(8, 16), nn.Linear(16, 1)
    optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    state = torch.zeros(1, 4, 16)
    for x, y in loader:
        state = state.detach()
        out, state = rnn(x, state)
        optimizer.zero_grad()
        nn.functional.mse_loss(head(out), y).backward()
        optimizer.step()
""",
        ),
        Bad(_QUEUE.format(kept="keys", mark="  # flagged")),
        Good(_QUEUE.format(kept="keys.detach()", mark="")),
        Good(
            """
import torch
from torch import nn

def repackage(state):
    return tuple(part.detach() for part in state)

def train(loader):
    rnn, head = nn.LSTM(8, 16), nn.Linear(16, 1)
    optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    state = (torch.zeros(1, 4, 16), torch.zeros(1, 4, 16))
    for x, y in loader:
        state = repackage(state)
        out, state = rnn(x, state)
        optimizer.zero_grad()
        nn.functional.mse_loss(head(out), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch
from torch import nn

def train(loader):
    cell, head = nn.GRUCell(8, 16), nn.Linear(16, 1)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    for sequence, y in loader:
        state = torch.zeros(4, 16)
        for x in sequence:
            state = cell(x, state)
        optimizer.zero_grad()
        nn.functional.mse_loss(head(state), y).backward()
        optimizer.step()
"""
        ),
    ),
)
