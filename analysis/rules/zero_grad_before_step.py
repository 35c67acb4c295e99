"""Gradients are cleared between backward and step.

`zero_grad()` after `backward()` and before `step()` throws away what the backward computed. The optimizer steps on zeros or on
nothing: parameters stay where they are, or move by momentum and weight decay alone, and no error is raised.

**How to fix it.** Clear before the backward, or after the step.

**What is not reported.** A backward whose gradients are not meant for the step: another one runs between the clearing and the step
(adversarial examples, a generator after its critic); clearing on one side of an undecided branch only (a step that is given up because
its loss is not finite); gradients that are read or set by hand; clearing a part of the model's gradients, which freezes it for that step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import GRADIENT_EVENTS, Gradients, gradients_of
from analysis.rules._objects import confidence_in
from analysis.rules._statements import behind_dispatch, is_alone, siblings
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import text

#: Per optimizer. fresh: a backward filled the gradients; lost: they were cleared, and no step has used them.
PROTOCOL = Automaton(
    start="clean",
    table={
        ("clean", "backward"): "fresh",
        ("fresh", "zero"): "lost",
        ("fresh", "step"): "clean",
        ("fresh", "opaque"): "clean",
        ("fresh", "use"): "clean",
        ("lost", "backward"): "fresh",
        ("lost", "step"): "clean",
        ("lost", "opaque"): "clean",
    },
    faults=frozenset({("lost", "step")}),
    neutral=frozenset({"clean"}),
    cures=frozenset({"backward"}),
    certain=True,
)


#: What is done to gradients to log them, and looking one of these methods up: no number that it gives can take their place.
_MEASURING = frozenset({"attribute", "norm", "isnan", "isinf", "isfinite"})


def check(trace: Trace) -> Iterator[Reported]:
    """A step on gradients that were cleared after the backward that made them."""
    for gradients in gradients_of(trace):
        for witness in trace.run(PROTOCOL, _letters(gradients), *GRADIENT_EVENTS):
            yield _reported(trace, gradients, witness)


def _letters(gradients: Gradients) -> LetterOf:
    """Events as the gradients see them; where only a part of them is cleared, that is done on purpose, to freeze it for a while."""

    def letter(event: Event) -> Letter | None:
        found = gradients.letter(event)
        if event.kind is Kind.GRADIENT_USE and event.detail in _MEASURING:
            return None
        return "use" if found == "zero" and not gradients.surely_all(event) else found

    return letter


def _reported(trace: Trace, gradients: Gradients, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    step, zero = witness.fault, witness.events[-2][0]
    backward = witness.last("backward") or zero
    cleared, together = visible(zero, files), zero.path == backward.path and backward is not zero
    span = cleared if together else behind_dispatch(trace.snapshot, meeting(zero, step, files), cleared)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` clears the gradients between `{text(trace.snapshot, visible(backward, files))}` and the step: "
        "the optimizer steps without them, and nothing is learnt from the loss",
        (
            Evidence(visible(backward, files), "this backward fills the gradients"),
            Evidence(visible(zero, files), "they are cleared before anything used them"),
            Evidence(visible(step, files), "this step finds none"),
        ),
    )
    return _with_fix(trace, finding, backward, zero)


def _with_fix(trace: Trace, finding: Finding, backward: Event, zero: Event) -> Reported:
    places = siblings(trace.snapshot, zero.span, backward.span) if zero.path == backward.path else None
    if places is None or not is_alone(trace.snapshot, zero.span):
        return Reported(
            replace(
                finding, no_fix_because="the backward and the clearing are in different functions: clear the gradients before the backward or after the step"
            )
        )
    return Reported(finding, Proposal("Clear the gradients before the backward", Safety.SAFE, (MoveStatement(places[0], before=places[1]),)))


RULE = Rule(
    "zero-grad-before-step",
    Severity.ERROR,
    "gradients are cleared between backward and step",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.zero_grad()  # flagged
        optimizer.step()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
        ),
        Bad(
            """
import torch

def clear(params):
    for p in params:
        p.grad = None

def update(optimizer, params):
    clear(params)  # flagged
    optimizer.step()

def train(model, loader):
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params, lr=0.1)
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()
        update(optimizer, params)
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        x.requires_grad_(True)
        torch.nn.functional.mse_loss(model(x), y).backward()
        worse = (x + 0.1 * x.grad.sign()).detach()
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(worse), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        if not torch.isfinite(loss):
            optimizer.zero_grad()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(body, head, loader, warm_up):
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(head(body(x)), y).backward()
        for parameter in head.parameters():
            parameter.grad = None
        optimizer.step()

train(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1), torch.load("rows.pt"), 100)
"""
        ),
    ),
)
