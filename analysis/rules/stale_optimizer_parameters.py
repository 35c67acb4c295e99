"""A layer is replaced after the optimizer was built.

An optimizer holds the parameters that it was given. A layer that replaces another one afterwards brings new parameters, which no step ever
updates: the new head stays at its random start, and the optimizer goes on with parameters that the model no longer has.

**How to fix it.** Change the model first, then build the optimizer; or hand the new parameters over with `optimizer.add_param_group`.

**What is not reported.** Layers that another optimizer updates; layers that are frozen; modules that are added beside the others; an optimizer
that is built again; moving a model to a device, which keeps its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.library.layers import BUILT_BY
from analysis.library.optimizers import held_by, parameters_of
from analysis.library.ownership import FROZEN, UNSEEN, leaves_in, modules_in
from analysis.library.tensor import Owner
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in, inner, optimizers
from analysis.rules._statements import siblings
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import text


def check(trace: Trace) -> Iterator[Reported]:
    """Layers inside an optimizer's model that came after it and replaced others."""
    known = optimizers(trace)
    held: frozenset[Owner] = frozenset().union(*map(held_by, known))
    built = {id(event.subject): event for event in trace.events(Kind.OPTIMIZER_BUILT)}
    told: set[Span] = set()
    for optimizer in known:
        event = built.get(id(optimizer))
        for model in parameters_of(optimizer):
            if event is None or not isinstance(model, Instance):
                continue
            for layer in _replaced(model, held_by(optimizer), held):
                span = _place(trace, layer, event)
                if span is not None and span not in told and span.path in trace.snapshot.contents:
                    told.add(span)
                    yield _reported(trace, optimizer, event, span)


def _place(trace: Trace, layer: Owner, built: Event) -> Span | None:
    """Where the layer came, in the deepest function that the building of the optimizer has in common with its own."""
    led: tuple[Span, ...] = layer.fields.get(BUILT_BY, ()) if isinstance(layer, Instance) else ()
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(led, built.path, strict=False)))
    return next((span for span in led[shared:] if span.path in trace.snapshot.contents), layer.span)


def _replaced(model: Instance, own: frozenset[Owner], held: frozenset[Owner]) -> Iterator[Owner]:
    """Layers that stand in the place of others since."""
    now = leaves_in(inner(model)) if isinstance(inner(model), Instance) else frozenset()
    unknown = inner(model).cls.find("is_unknown") is True if isinstance(inner(model), Instance) else False
    if not unknown and not (own - now):
        yield from _wrapped_around(inner(model), own, now - held)
        return
    for atom in now - held:
        # What was found to have parameters only when it ran was there all along.
        settled = isinstance(atom, Instance) and any(module.fields.get(FROZEN) is True or module.fields.get(UNSEEN) is True for module in modules_in(atom))
        if atom.span is not None and not settled:
            yield atom


def _wrapped_around(model: Owner, own: frozenset[Owner], new: frozenset[Owner]) -> Iterator[Owner]:
    """The innermost modules that hold ``new`` parameters beside a layer which the optimizer holds: they were put around it."""
    parts = [(each, leaves_in(each)) for each in modules_in(model) if each is not model] if new and isinstance(model, Instance) else []
    around = [(each, inside) for each, inside in parts if inside & own and inside & new]
    if any(own <= inside for _, inside in parts):
        return
    for each, inside in around:
        if each.span is not None and not any(other < inside for _, other in around):
            yield each


def _reported(trace: Trace, optimizer: Instance, built: Event, span: Span) -> Reported:
    files = trace.snapshot.contents
    place = visible(built, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(optimizer),
        span,
        f"`{text(trace.snapshot, span)}` comes into the model after the optimizer was built: no step updates its parameters",
        (
            Evidence(place, "the optimizer takes the parameters that the model has now"),
            Evidence(span, "new parameters come into it here"),
        ),
    )
    both = siblings(trace.snapshot, place, span)
    if both is None or built.span != place:
        return Reported(replace(finding, no_fix_because="model and optimizer are set up in different places: build the optimizer after the model is complete"))
    title = "Does nothing in between use the optimizer? Then build it after the model is complete"
    return Reported(finding, Proposal(title, Safety.REVIEW, (MoveStatement(both[0], after=both[1]),)))


_RESIZED = """
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
{before}    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{after}    model.train()
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
"""

_ADAPTED = """
import torch
from torch import nn

class Adapter(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.scale = layer, nn.Parameter(torch.ones(8))

    def forward(self, x):
        return self.layer(x) * self.scale

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 8)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    net = Net()
{before}    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{after}    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
"""
_ADAPT = "    net.head = Adapter(net.head)"

RULE = Rule(
    "stale-optimizer-parameters",
    Severity.ERROR,
    "a layer is replaced after the optimizer was built",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
import torchvision

def train(loader):
    model = torchvision.models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = torch.nn.Linear(512, 10)  # flagged
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
""",
            fixed="""
import torch
import torchvision

def train(loader):
    model = torchvision.models.resnet18(weights="DEFAULT")
    model.fc = torch.nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
""",
        ),
        Bad(
            _RESIZED.format(before="", after="    model.resize_token_embeddings(32000)  # flagged\n"),
            fixed=_RESIZED.format(before="    model.resize_token_embeddings(32000)\n", after=""),
        ),
        Bad(_ADAPTED.format(before="", after=f"{_ADAPT}  # flagged\n"), fixed=_ADAPTED.format(before=f"{_ADAPT}\n", after="")),
        Good(_ADAPTED.format(before=f"{_ADAPT}\n", after="")),
        Good(_RESIZED.format(before="    model.resize_token_embeddings(32000)\n", after="")),
        Good(
            """
import torch
import torchvision

def train(loader):
    model = torchvision.models.resnet18(weights="DEFAULT")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = torch.nn.Linear(512, 10)
    optimizer.add_param_group({"params": model.fc.parameters()})
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    model = Net()
    model.head = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to("cuda")
    model.teacher = torch.nn.Linear(8, 8)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
        ),
    ),
)
