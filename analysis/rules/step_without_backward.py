"""An optimizer steps although no backward has filled its gradients.

Between the clearing and the step nothing reaches the parameters of this optimizer: the step uses no gradients. Either the loss is never
back-propagated, or the backward fills the parameters of another optimizer.

**How to fix it.** Call `backward()` on the loss that is meant to train these parameters, or give the optimizer the parameters that the loss
depends on.

**What is not reported.** Gradients that are set by hand or come from `autograd.grad`; a backward on one side of an undecided branch or
through a graph or a loss that was not followed; a step that an earlier backward fills before the gradients are cleared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance
from analysis.library.ownership import modules_in
from analysis.library.tensor import Parameter, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._gradient_uses import GradientUses
from analysis.rules._gradients import GRADIENT_EVENTS, Gradients, gradients_of
from analysis.rules._modes import holds_unknown
from analysis.rules._objects import confidence_in, inner
from analysis.rules._sources import drawn_in
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import text

#: Per optimizer. empty: nothing since the clearing; lost: what a backward brought was cleared, which is another mistake.
PROTOCOL = Automaton(
    start="unknown",
    table={
        ("unknown", "zero"): "empty",
        ("unknown", "backward"): "full",
        ("empty", "backward"): "full",
        ("empty", "opaque"): "unknown",
        ("empty", "use"): "unknown",
        ("full", "zero"): "lost",
        ("full", "step"): "unknown",
        ("full", "opaque"): "unknown",
        ("lost", "backward"): "full",
        ("lost", "step"): "unknown",
        ("lost", "opaque"): "unknown",
    },
    faults=frozenset({("empty", "step")}),
    neutral=frozenset({"unknown"}),
    cures=frozenset({"backward"}),
    certain=True,
)


def check(trace: Trace) -> Iterator[Reported]:
    """A step right after a clearing, in a program that knows the gradients' way."""
    for gradients in gradients_of(trace):
        if not gradients.owners or _imagined(trace, gradients) or _holds_unknown(gradients):
            continue
        unfilled = _never_filled(trace, gradients) if trace.complete else None
        if unfilled is not None:
            yield _reported_unfilled(trace, gradients, unfilled)
            continue
        for witness in trace.run(PROTOCOL, _letters(gradients), *GRADIENT_EVENTS, Kind.GRADIENT_CALL):
            backward = _between(trace, witness.events[0][0], witness.fault)
            if _repeats(witness) and not _of_numbers(backward) and not _through_unknown(backward, gradients) and not _withheld(trace, backward):
                yield _reported(trace, gradients, witness)


def _never_filled(trace: Trace, gradients: Gradients) -> Event | None:
    """A step that a framework's loop leads to, in a run in which no gradient of its optimizer is ever computed: the function that does was not called."""
    letters = {found for event in trace.events(*GRADIENT_EVENTS, Kind.GRADIENT_CALL) if (found := _letters(gradients)(event)) is not None}
    if letters & {"opaque", "use"} or any(True for _ in trace.events(Kind.BACKWARD)):
        return None
    files = trace.snapshot.contents
    steps = (event for event in trace.events(Kind.STEP) if event.subject is gradients.optimizer and event.span.path in files and not trace.undecided(event))
    return next((event for event in steps if any(span.path not in files for span in event.path)), None)


def _reported_unfilled(trace: Trace, gradients: Gradients, step: Event) -> Reported:
    span = visible(step, trace.snapshot.contents)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` finds no gradients: the framework handed over the function that computes them, and nothing calls it",
        (Evidence(span, "the step comes without the closure in which the training step runs"),),
        no_fix_because="the closure that the method is given has to be passed on: optimizer.step(closure=...)",
    )
    return Reported(finding)


def _holds_unknown(gradients: Gradients) -> bool:
    """Whether the optimizer's modules hold others that are not told: a backward may reach those."""
    return any(holds_unknown(module) for owner in gradients.owners if isinstance(owner, Instance) for module in modules_in(inner(owner)))


def _imagined(trace: Trace, gradients: Gradients) -> bool:
    """Whether no code of the program built the optimizer: what it holds is a guess."""
    span = gradients.optimizer.span
    return span is not None and span.path not in trace.snapshot.contents


def _letters(gradients: Gradients) -> LetterOf:
    def letter(event: Event) -> Letter | None:
        if event.kind is Kind.GRADIENT_CALL:
            return "opaque"
        found = gradients.letter(event)
        return "opaque" if found == "step" and isinstance(event.detail, tuple) else found

    return letter


def _repeats(witness: Witness) -> bool:
    """Whether the step happens in a loop: one before it only sets an optimizer up."""
    return bool(witness.fault.context.stamp)


def _of_numbers(backward: Event | None) -> bool:
    """Whether a backward goes through nothing but a leaf that was made of numbers: its loss is the mistake, and another rule's."""
    owners = backward.value.owners if backward is not None else ()
    return bool(owners) and all(isinstance(each, Tensor) and not isinstance(each, Parameter) and each in each.autograd.leaves for each in owners)


def _through_unknown(backward: Event | None, gradients: Gradients) -> bool:
    """Whether a loss comes from a call that was not followed, of which what the optimizer holds may be a part: a loss with a critic inside, say."""
    stands_in = any(isinstance(owner, Instance) and owner.assumed for owner in gradients.owners)
    return backward is not None and stands_in and any(each.made is not None and "callee" in each.made.options for each in ancestors(backward.value))


def _withheld(trace: Trace, backward: Event | None) -> bool:
    """Whether the loss was cut off from the parameters: the cut is the mistake, and another rule's."""
    if backward is None:
        return False
    uses = GradientUses(trace)
    drawn = (made for made, before in drawn_in(backward.value) if uses.starved(before.owners))
    return any(each.span.path in trace.snapshot.contents for each in (*uses.withheld(backward), *drawn))


def _between(trace: Trace, zero: Event, step: Event) -> Event | None:
    """A backward between the clearing and the step: it reaches others."""
    inside = False
    for event in trace.events(Kind.ZERO_GRAD, Kind.BACKWARD, Kind.STEP):
        if event is step:
            return None
        inside = inside or event is zero
        if inside and event.kind is Kind.BACKWARD:
            return event
    return None


def _computed(trace: Trace, zero: Event, step: Event) -> bool:
    """Whether a loss with a graph is computed between the clearing and the step, for a backward that never comes."""
    events = list(trace.events(Kind.ZERO_GRAD, Kind.LOSS, Kind.STEP))
    return any(
        event.kind is Kind.LOSS and isinstance(event.value, Tensor) and event.value.attached for event in events[events.index(zero) : events.index(step)]
    )


def _only_read(trace: Trace, gradients: Gradients) -> bool:
    """Whether no backward ever comes to the parameters, though others do to other optimizers', and a loss that reaches them is computed and read."""
    letters = {gradients.letter(event) for event in trace.events(Kind.BACKWARD, Kind.OPAQUE)}
    if not letters.isdisjoint({"backward", "opaque"}) or not any(True for _ in trace.events(Kind.BACKWARD)):
        return False
    read = (tensor for event in trace.events(Kind.ITEM, Kind.LOG, Kind.PRINT) for tensor in tensors_in(event.value))
    return any(tensor.attached and gradients.touches(tuple(tensor.owners)) for tensor in read if tensor.owners)


def _reported(trace: Trace, gradients: Gradients, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    step = witness.fault
    zero = witness.last("zero") or step
    span = visible(step, files)
    # Without any backward in sight, or where not all was followed, one may have been missed: such a finding is counted, never shown.
    others = _between(trace, zero, step)
    seen = others is not None or _computed(trace, zero, step) or _only_read(trace, gradients)
    sure = seen and trace.complete and not trace.unresolved
    chain = [Evidence(visible(zero, files), "the gradients are cleared")]
    if others is not None:
        chain.append(Evidence(visible(others, files), "this backward reaches none of the optimizer's parameters"))
    chain.append(Evidence(span, "the step finds no gradients"))
    finding = Finding(
        RULE.name,
        RULE.severity,
        min(confidence_in(gradients.optimizer), Confidence.MEDIUM if sure else Confidence.LOW),
        span,
        f"`{text(trace.snapshot, span)}` finds no gradients: no backward has reached the parameters of this optimizer since they were cleared",
        tuple(chain),
    )
    return Reported(replace(finding, no_fix_because="which loss is meant to train these parameters is for you to say"))


RULE = Rule(
    "step-without-backward",
    Severity.WARNING,
    "an optimizer steps although no backward has filled its gradients",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(loader):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.step()  # flagged
"""
        ),
        Bad(
            """
import torch

def train(loader):
    model, head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(head(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # flagged
"""
        ),
        Good(
            """
import torch

def train(loader):
    model, head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        slopes = torch.autograd.grad(torch.nn.functional.mse_loss(head(model(x)), y), model.parameters())
        for p, slope in zip(model.parameters(), slopes):
            p.grad = slope
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.LBFGS(model.parameters())
    for x, y in loader:
        def closure():
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss
        optimizer.step(closure)
"""
        ),
    ),
)
