"""A loss, or one term of it, is cut off from the parameters that it is meant to train.

`detach()`, `.data`, `.item()`, NumPy and `argmax` give numbers without a graph. A loss made of them alone trains nothing: PyTorch raises an
error, or, where the loss was wrapped anew with `requires_grad=True`, nothing at all happens. One term that is cut off adds to the printed
loss and has no effect; a term that reaches only parameters whose gradients are cleared before they are used has none either.

**How to fix it.** Compute the term from the attached tensor, or leave it out of the loss.

**What is not reported.** Targets, weights and baselines that are detached on purpose while the term itself still reaches parameters that a step
uses; a critic's loss on detached samples; values that went through code that was not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, UnwrapCall
from analysis.interpreter.values import Symbol
from analysis.library.tensor import Made, Scalar, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradient_uses import NO_GRAD, GradientUses
from analysis.rules._sources import DRAWS, cuts_anywhere_in, cuts_in, drawn_in, is_from_what_was_given_a_model, switched_off_in, terms_of
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import call_at, span_of, text

#: Operations that make one number of a tensor, or scale it.
_OF_ONE = frozenset({"truediv", "scale", "div", "mean", "sum"})


def check(trace: Trace) -> Iterator[Reported]:
    """Backwards without a graph, and terms that no step profits from."""
    told: set[Span] = set()
    uses = GradientUses(trace)
    done: set[Made] = set()
    for event in trace.events(Kind.BACKWARD):
        made = _root(event.value).made
        own = made is not None and not done.isdisjoint(each.made for each in made.tensors if each.made is not None)
        if own or is_from_what_was_given_a_model(event.value):  # own: cut after its own backward; the gradients are kept, and put in by a hook
            continue
        for term, cut in _cut_off(uses, event):
            if cut.span not in told and cut.span.path in trace.snapshot.contents:
                told.add(cut.span)
                yield _reported(trace, event, term, cut)
        done.update(filter(None, [event.value.made]))


def _cut_off(uses: GradientUses, event: Event) -> Iterator[tuple[Tensor | Scalar, Made]]:
    """The terms of a backward that train nothing, with the cut that is to blame."""
    loss: Tensor = event.value
    if not loss.attached:
        cuts = cuts_anywhere_in(loss) if loss in loss.autograd.leaves else cuts_in(loss)
        yield from ((loss, made) for made, before in cuts if before.owners)
        if (leaf := _leaf(loss)) is not None:
            yield loss, leaf
        off = (made.span for made, before in switched_off_in(loss) if before.owners)
        yield from ((loss, Made(NO_GRAD, (), {}, span)) for span in (*uses.without_graph(loss), *islice(off, 1)))
        return
    if (root := _root(loss)) is not loss and not root.attached and root in root.autograd.leaves:
        yield from ((loss, made) for made, before in cuts_anywhere_in(root) if before.owners)
    yield from islice(((loss, made) for made, before in drawn_in(loss) if uses.starved(before.owners)), 1)
    yield from islice(((loss, made) for made in uses.withheld(event) if _root(loss) not in loss.autograd.leaves), 1)
    leaf = _leaf(loss)
    if leaf is not None or uses.unsure(event):
        yield from ((loss, made) for made in (leaf,) if made is not None)
        return
    for term in terms_of(loss):
        value = term.value
        if term.added is None or not isinstance(value, (Tensor, Scalar)):
            continue
        if isinstance(value, Tensor) and (value.attached and (not value.owners or uses.stepping(event, value))):
            continue
        for made, before in _cuts(value):
            if before.owners and uses.stepping(event, before):
                yield value, made
        if isinstance(value, Tensor) and not value.attached:
            without = (made.span for made, before in switched_off_in(value, modules=True) if before.owners and uses.stepping(event, before))
            yield from islice(((value, made) for made in (*(Made(NO_GRAD, (), {}, span) for span in without), *uses.unrecorded(event, value))), 1)


def _leaf(loss: Tensor) -> Made | None:
    """The ``torch.tensor(number)`` that is back-propagated: a graph of its own, whatever the number was computed from."""
    tensor = _root(loss)
    made = tensor.made if tensor in tensor.autograd.leaves else None
    given = made.inputs[0] if made is not None and made.op == "tensor" and made.inputs else None
    numbers = isinstance(given, list) and bool(given) and all(isinstance(each, Scalar) or (isinstance(each, Tensor) and each.forwards) for each in given)
    return made if numbers or isinstance(given, Symbol) or (isinstance(given, Tensor) and given.forwards) else None


def _root(loss: Tensor) -> Tensor:
    """What was made one number, or scaled, before it was back-propagated."""
    tensor = loss
    while tensor.made is not None and tensor.made.op in _OF_ONE and isinstance(before := next(iter(tensor.made.inputs), None), Tensor):
        tensor = before
    return tensor


def _cuts(value: Tensor | Scalar) -> Iterator[tuple[Made, Tensor]]:
    """Cuts on the way to a term: inside what a model was given too."""
    yield from cuts_in(value)
    made = value.made if isinstance(value, Tensor) else None
    while made is not None and made.inputs:
        first = made.inputs[0]
        if "module" in made.options or made.op in {"forward", "call"}:
            for given in made.inputs:
                yield from cuts_in(given)
        made = first.made if isinstance(first, Tensor) else None


def _reported(trace: Trace, backward: Event, term: Tensor | Scalar, cut: Made) -> Reported:
    files = trace.snapshot.contents
    loss: Tensor = backward.value
    if not loss.attached or not _root(loss).attached or cut.op == "tensor":
        says = f"the loss that is back-propagated is made of {'these numbers alone' if cut.op == 'tensor' else 'it'}, and trains nothing"
    elif term is loss:
        says = "an optimizer steps on the parameters behind it, and no backward comes to them"
    elif isinstance(term, Tensor) and term.attached:
        says = "the term of the loss that is made of it reaches only parameters whose gradients no step uses"
    else:
        says = "the term of the loss that is made of it has no gradient"
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM if isinstance(term, Scalar) or term.attached else Confidence.HIGH,
        cut.span,
        f"`{text(trace.snapshot, cut.span)}` {'runs under no_grad' if cut.op == NO_GRAD else 'cuts the graph'}: {says}",
        (
            Evidence(cut.span, "no graph is recorded here" if cut.op == NO_GRAD else "the graph ends here"),
            Evidence(visible(backward, files), "this backward finds no way to the parameters through it"),
        ),
    )
    match call_at(trace.snapshot, cut.span):
        case ast.Call(func=ast.Attribute(value=kept, attr="detach" | "item"), args=[]):
            span = span_of(trace.snapshot, cut.span.path, kept)
        case _:
            span = None
    if cut.op in DRAWS:
        return Reported(replace(finding, no_fix_because="no gradient goes back through a draw: draw with rsample(), or weigh log_prob by the value"))
    if span is None:
        return Reported(replace(finding, no_fix_because="how the term can be computed with its graph is for you to say"))
    title = "Is this term meant to train? Then leave the graph in place"
    return Reported(finding, Proposal(title, Safety.REVIEW, (UnwrapCall(cut.span, span),)))


_ADVERSARIAL = """
import torch
from torch.nn import functional as F

def train(generator, critic, loader):
    g = torch.optim.Adam(generator.parameters())
    d = torch.optim.Adam(critic.parameters())
    for noise, real in loader:
        fake = generator(noise)
        loss = F.mse_loss(critic(real), torch.ones(1)) + F.mse_loss(critic(fake.detach()), torch.zeros(1))
        d.zero_grad()
        loss.backward()
        d.step()
        score = {score}
        loss = F.mse_loss(score, torch.ones(1)) + 100 * F.l1_loss(fake, real)
        g.zero_grad()
        loss.backward()
        g.step()
"""

RULE = Rule(
    "detached-loss",
    Severity.ERROR,
    "a loss, or one term of it, is cut off from the parameters that it is meant to train",
    __doc__,
    check,
    examples=(
        Bad(_ADVERSARIAL.format(score="critic(fake.detach())  # flagged"), fixed=_ADVERSARIAL.format(score="critic(fake)")),
        Bad(
            """
import torch
from torch.autograd import Variable
from torch.nn import functional as F

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss = Variable(loss.data, requires_grad=True)  # flagged
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
        Bad(
            """
import torch
from torch.nn import functional as F

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        out = model(x)
        loss = F.mse_loss(out, y) + F.l1_loss(out, y).item()  # flagged
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            fixed="""
import torch
from torch.nn import functional as F

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        out = model(x)
        loss = F.mse_loss(out, y) + F.l1_loss(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
        ),
        Bad(
            """
import torch
from torch.nn import functional as F

def train(model, tasks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for task in tasks:
        losses = [F.mse_loss(model(x), y).item() for x, y in task]
        optimizer.zero_grad()
        torch.tensor(losses, requires_grad=True).mean().backward()  # flagged
        optimizer.step()
"""
        ),
        Bad(
            """
import numpy as np
import torch

def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        error = np.abs(model(x).detach().numpy() - y.numpy()).mean()
        loss = torch.tensor(error, requires_grad=True)  # flagged
        loss.backward()
        optimizer.step()
"""
        ),
        Bad(
            """
import torch
from torch.nn import functional as F

@torch.no_grad()
def encode(model, x):
    return F.normalize(model(x), dim=1)  # flagged

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(encode(model, x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch
from torch.nn import functional as F

def train(encoder, codes, loader):
    optimizer = torch.optim.SGD([*encoder.parameters(), *codes.parameters()], lr=0.1)
    for x in loader:
        z = encoder(x)
        q = codes(z)
        loss = F.mse_loss(q.detach(), z) + 0.25 * F.mse_loss(q, z.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(actor, critic, loader):
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
    for states, returns in loader:
        value = critic(states)
        advantage = returns - value.detach()
        loss = -(actor(states).log_softmax(-1)[:, 0] * advantage).mean() + (returns - value).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
    ),
)
