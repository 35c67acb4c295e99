"""A loss is computed and logged, and no backward ever goes through it.

The loss of a second head, a regulariser, a consistency term: it is computed with its graph in every step, its curve is drawn, and it is never
added to what is back-propagated. The curve may even fall, since the parts that it shares with the other losses learn. It costs memory and
trains nothing. Often the sum of all terms has a name of its own, and `backward()` is called on one of the terms.

**How to fix it.** Add the term to the loss, or call `backward()` on the sum. If the term is only watched, compute it under `torch.no_grad()`.

**What is not reported.** Metrics: another loss on the very output that is trained, whatever is computed without a graph or read as a number at
once; evaluation; values that are returned, kept, handed on or used in any other way than to be read; terms behind an option that is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.library.tensor import Made, Parameter, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._kept_terms import entry_of, is_trained, only_logged, uncut
from analysis.rules._objects import Holdings, numbers_in
from analysis.rules._outputs import has_output_of_its_own
from analysis.rules._reads import assigned_name, only_read
from analysis.rules._sources import attached_in, terms_of
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import text

_MOST = 200
#: Arithmetic that makes a term of a loss weigh more or less.
_WEIGHING = frozenset({"mul", "truediv", "div", "neg", "scale", "mean", "sum"})


@dataclass(frozen=True, slots=True)
class _Unused:
    """A loss at ``span`` that the ``backward`` of its iteration leaves out; ``total``: where it was added to one that is not left out."""

    span: Span
    backward: Event
    total: Span | None = None


def check(trace: Trace) -> Iterator[Reported]:
    """Losses of the training forward that are only read, each place once."""
    trained = _Trained(trace)
    told: set[Span] = set()
    for unused in (*_beside(trace, trained), *_in_sums(trace, trained)) if trained.backwards else ():
        if unused.span not in told:
            told.add(unused.span)
            yield _reported(trace, unused)


class _Trained:
    """What the backwards of a trace go through, and what its optimizers step."""

    def __init__(self, trace: Trace) -> None:
        self.backwards = [event for event in trace.events(Kind.BACKWARD) if event.value.attached]
        whole = (each for event in trace.events(Kind.GRADIENT_CALL) for each in tensors_in(event.value))
        self.operations = attached_in(*(event.value for event in self.backwards), *whole)
        self.reads = [visible(event, trace.snapshot.contents) for event in trace.events(Kind.ITEM, Kind.LOG)]
        self._gradients: list[Gradients] = gradients_of(trace)
        self._holdings = Holdings()

    def beside(self, event: Event, value: Tensor) -> Event | None:
        """A backward of the same iteration, through a forward that ``value`` was made of too, for parameters that are stepped."""
        if not any(self._holdings.shared(value.owners, each.owners) for each in self._gradients):
            return None
        for backward in self.backwards:
            if backward.context.stamp == event.context.stamp and not numbers_in([backward.value]).isdisjoint(value.forwards):
                return backward
        return None


def _beside(trace: Trace, trained: _Trained) -> Iterator[_Unused]:
    """Losses on outputs of the model that nothing else trains."""
    for event in trace.events(Kind.LOSS):
        value, given = event.value, event.detail[0]
        if not (event.context.grad and isinstance(given, Tensor) and value.attached and value.owners) or value.made in trained.operations:
            continue
        backward = trained.beside(event, value)
        if backward is None or not has_output_of_its_own(given, trained.operations):
            continue
        span = meeting(event, backward, trace.snapshot.contents)
        if _is_watched(trace, span, trained.reads, value):
            yield _Unused(span, backward)
        elif event.span.path in trace.snapshot.contents and _is_kept_to_log(trace, trained, event, backward):
            yield _Unused(event.span, backward)


def _is_kept_to_log(trace: Trace, trained: _Trained, event: Event, backward: Event) -> bool:
    """Whether the loss goes into a dictionary beside others that are trained, and is only read from there."""
    read = [each for each in trace.events(Kind.ITEM, Kind.LOG) if any(uncut(tensor) is event.value.made for tensor in tensors_in(each.value))]
    entry = entry_of(trace, event.span) if read else None
    if entry is None or not is_trained(entry, trained.operations):
        return False
    summed = [backward.value.made.span] if backward.value.made is not None else []
    places = [event.span, *summed, *(visible(each, trace.snapshot.contents) for each in (backward, *read))]
    return only_logged(trace, entry, places, trained.reads)


def _in_sums(trace: Trace, trained: _Trained) -> Iterator[_Unused]:
    """Terms of a sum that is logged, while only other terms of it are back-propagated."""
    roots = {term.value.made for event in trained.backwards for term in terms_of(event.value) if isinstance(term.value, Tensor)}
    roots |= {event.value.made for event in trained.backwards}
    for event in trace.events(Kind.ITEM, Kind.LOG):
        for total in tensors_in(event.value):
            if total.attached and total.made is not None and total.made not in trained.operations and total.made.op == "add":
                yield from _left_out(trace, trained, event, total, roots)


def _left_out(trace: Trace, trained: _Trained, event: Event, total: Tensor, roots: set[Made | None]) -> Iterator[_Unused]:
    terms = [(term.value, _unweighed(term.value)) for term in terms_of(total) if isinstance(term.value, Tensor) and term.value.attached]
    if total.made is None or not any(bare.made in roots or term.made in roots for term, bare in terms):
        return
    reads = [*trained.reads, total.made.span]
    if not _is_watched(trace, total.made.span, trained.reads, total):
        return
    for _, bare in terms:
        backward = trained.beside(event, bare)
        if bare.made is not None and bare.made not in trained.operations and backward is not None and _is_watched(trace, bare.made.span, reads, bare):
            yield _Unused(bare.made.span, backward, total.made.span)


def _unweighed(term: Tensor) -> Tensor:
    """The term without the numbers that it is multiplied with."""
    for _ in range(_MOST):
        attached = [each for each in term.made.tensors if each.attached] if term.made is not None and term.made.op in _WEIGHING else []
        if len(attached) != 1 or isinstance(attached[0], Parameter):
            return term
        term = attached[0]
    return term


def _is_watched(trace: Trace, span: Span, reads: list[Span], value: Tensor) -> bool:
    """Whether ``value``, computed at ``span``, gets a name, and the name is read and nothing else."""
    source = trace.snapshot.source(span.path)
    own = [event.span for event in trace.events(Kind.ITEM) if isinstance(event.value, Tensor) and event.value.made is value.made]
    named = assigned_name(source, span, own) if isinstance(source, SourceFile) else None
    if not isinstance(source, SourceFile) or named is None:
        return False
    name, statement = named
    whole = source.span(statement)
    at_once = any(read.path == whole.path and whole.start <= read.start and read.end <= whole.end for read in reads if read != span)
    return not at_once and only_read(source, span, name, reads)


def _reported(trace: Trace, unused: _Unused) -> Reported:
    backward = visible(unused.backward, trace.snapshot.contents)  # a framework's own stands nowhere in the repository
    left_out = (Evidence(backward, "this backward leaves it out, and no other goes through it"),) if backward.path in trace.snapshot.contents else ()
    total = (Evidence(unused.total, "it is added to the other terms, and the sum is only read"),) if unused.total is not None else ()
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        unused.span,
        f"`{text(trace.snapshot, unused.span)}` is computed with its graph and only read: no backward goes through it, so that it trains nothing",
        (Evidence(unused.span, "the loss is computed"), *total, *left_out),
        no_fix_because="whether it is meant to train, and with which weight, is for you to say: then add it to the loss, else compute it without its graph",
    )
    return Reported(finding)


RULE = Rule(
    "unused-loss",
    Severity.WARNING,
    "a loss is computed and logged, and no backward ever goes through it",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)
        self.angle = nn.Linear(8, 4)

    def forward(self, x):
        features = self.body(x)
        return self.head(features), self.angle(features)

def train(loader):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y, turned in loader:
        out, angle = model(x)
        loss = F.cross_entropy(out, y)
        turning = F.cross_entropy(angle, turned)  # flagged
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f} turning {turning.item():.3f}")
"""
        ),
        Bad(
            """
import torch
from torch.nn import functional as F
from torch.utils.tensorboard import SummaryWriter

def train(model, loader):
    writer = SummaryWriter()
    optimizer = torch.optim.Adam(model.parameters())
    for step, (x, y) in enumerate(loader):
        out = model(x)
        loss = F.mse_loss(out, y)
        rough = F.l1_loss(out[:, 1:], out[:, :-1])  # flagged
        total = loss + 0.1 * rough
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", total.item(), step)
"""
        ),
        Bad(
            """
import lightning
import torch
from torch import nn
from torch.nn import functional as F

class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)
        self.side = nn.Linear(8, 4)

    def training_step(self, batch, index):
        x, y, kind = batch
        features = self.body(x)
        loss = F.cross_entropy(self.head(features), y)
        aside = F.cross_entropy(self.side(features), kind)  # flagged
        self.log("aside", aside)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""
        ),
        Good(
            """
import torch
from torch.nn import functional as F

def train(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        out = model(x)
        loss = F.l1_loss(out, y)
        squared = F.mse_loss(out.clamp(0, 1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f} psnr {-10 * torch.log10(squared).item():.1f}")
"""
        ),
        Good(
            """
import torch
from torch.nn import functional as F

def train(model, critic, loader, use_side):
    optimizer = torch.optim.Adam(model.parameters())
    other = torch.optim.Adam(critic.parameters())
    for x, y in loader:
        out, side = model(x)
        aside = F.mse_loss(side, y)
        loss = F.mse_loss(out, y)
        if use_side:
            loss = loss + aside
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        real = F.softplus(-critic(y)).mean()
        fake = F.softplus(critic(out.detach())).mean()
        both = real + fake
        other.zero_grad()
        real.backward()
        fake.backward()
        other.step()
        print(loss.item(), aside.item(), both.item())
"""
        ),
    ),
)
