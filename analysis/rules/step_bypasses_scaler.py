"""The optimizer steps on gradients that still carry the loss scale.

After `scaler.scale(loss).backward()` every gradient is multiplied by a factor of thousands. `scaler.step(optimizer)` divides it out and
skips the step where a gradient overflowed; a plain `optimizer.step()` applies the scaled gradients as they are, and behind `scaler.unscale_(optimizer)`
the infinities too that a too large scale makes of them.

**How to fix it.** `scaler.step(optimizer)`, then `scaler.update()`.

**What is not reported.** Gradients that code of your own has divided or looked at before; a scaler built with `enabled=False`; a step on one side
of an undecided branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import Change, InsertAfter, Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import GRADIENT_EVENTS, Gradients, gradients_of, scaler_of
from analysis.rules._objects import Concern, concern, confidence_in
from analysis.rules._statements import scale_name
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import receiver, statement_of, text

_SCALED = "applies gradients that are still multiplied by the loss scale: each update is thousands of times too large"
_UNSKIPPED = "goes past the scaler, which would skip the step where a gradient overflowed: the first infinity goes into the weights"
#: What leaves an optimizer's gradients cleared, used up or not known.
_ENDS = ("backward", "step", "plain step", "guarded step", "zero", "use", "opaque")
#: Per optimizer: whether its gradients carry the loss scale. A step that a scaler or an engine runs is "step", any other "plain step",
#: or "guarded step" where something is looked at first.
PROTOCOL = Automaton(
    start="plain",
    table={
        ("plain", "scaled"): "scaled",
        ("scaled", "unscale"): "unscaled",
        ("unscaled", "scaled"): "scaled",
        **{(state, letter): "plain" for state in ("scaled", "unscaled") for letter in _ENDS},
    },
    faults=frozenset({("scaled", "plain step"), ("scaled", "guarded step"), ("unscaled", "plain step")}),
    neutral=frozenset({"plain"}),
    cures=frozenset({"step"}),
    certain=True,
)


def check(trace: Trace) -> Iterator[Reported]:
    """A plain step after a scaled backward."""
    for gradients in gradients_of(trace):
        for witness in trace.run(PROTOCOL, _letters(trace, gradients), *GRADIENT_EVENTS):
            yield _reported(trace, gradients, witness)


def _letters(trace: Trace, gradients: Gradients) -> LetterOf:
    def letter(event: Event) -> Letter | None:
        found = gradients.letter(event)
        if found == "backward" and event.subject is None and scaler_of(event.value) is not None:
            return "scaled"
        if found == "step" and event.detail is None:
            return "guarded step" if trace.undecided(event) else "plain step"
        return found

    return letter


def _reported(trace: Trace, gradients: Gradients, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    step = witness.fault
    backward = witness.last("scaled") or step
    scaler, unscaled = scaler_of(backward.value), witness.last("unscale")
    span = visible(step, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer, scaler),
        span,
        f"`{text(trace.snapshot, span)}` {_UNSKIPPED if unscaled is not None else _SCALED}",
        (
            Evidence(visible(backward, files), "the loss is scaled, and its gradients with it"),
            *([Evidence(visible(unscaled, files), "the scale is divided out again: what overflowed stays infinite")] if unscaled is not None else []),
            Evidence(span, "the optimizer steps without its scaler"),
        ),
    )
    name, optimizer, place = scale_name(trace, backward), receiver(trace.snapshot, step.span), statement_of(trace.snapshot, step.span)
    if name is None or optimizer is None or place is None or backward.path != step.path:
        return Reported(replace(finding, no_fix_because="the scaler has no name where the optimizer steps: step by scaler.step(optimizer)"))
    changes: list[Change] = [ReplaceExpression(span, f"{name}.step({optimizer})")]
    if isinstance(scaler, Instance) and not any(concern(event.subject, scaler) is not Concern.NO for event in trace.events(Kind.SCALER_UPDATE)):
        changes.append(InsertAfter(place, (f"{name}.update()",)))
    return Reported(finding, Proposal(f"Step by the scaler: {name}.step({optimizer})", Safety.SAFE, tuple(changes)))


_LOOP = """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        {step}
"""
_UNSCALED = """scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        """
_UPDATE = "\n        scaler.update()"

RULE = Rule(
    "step-bypasses-scaler",
    Severity.ERROR,
    "the optimizer steps on gradients that carry the loss scale",
    __doc__,
    check,
    examples=(
        Bad(_LOOP.format(step=f"optimizer.step()  # flagged{_UPDATE}"), fixed=_LOOP.format(step=f"scaler.step(optimizer){_UPDATE}")),
        Bad(
            _LOOP.format(step=f"{_UNSCALED}optimizer.step()  # flagged{_UPDATE}"),
            fixed=_LOOP.format(step=f"{_UNSCALED}scaler.step(optimizer){_UPDATE}"),
        ),
        Good(_LOOP.format(step=f"{_UNSCALED}if torch.isfinite(norm):\n            optimizer.step(){_UPDATE}")),
        Good(
            """
import torch

def train(model, loader, use_amp=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        if use_amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
"""
        ),
        Good(_LOOP.format(step="for p in model.parameters():\n            p.grad.div_(scaler.get_scale())\n        optimizer.step()")),
    ),
)
