"""A binary cross entropy gets the wrong kind of scores.

`binary_cross_entropy_with_logits` (`BCEWithLogitsLoss`) applies the sigmoid itself: after another sigmoid all its inputs lie
between 0.5 and 0.73, and the loss can reach neither 0 nor large values: training is slow and ends badly. `binary_cross_entropy`
(`BCELoss`) wants probabilities: raw scores outside 0…1 stop the program, on the GPU with an assertion that names no line. A
sigmoid on a sigmoid before it is the first mistake in another form.

**How to fix it.** Give raw scores to the loss with logits; it is also the stabler one.

**What is not reported.** Probabilities that are weights (focal loss), metrics or targets; scores that were not followed to a layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported
from analysis.library.tensor import Made
from analysis.rule import Bad, Good, Rule
from analysis.rules._chains import SHAPES, is_unbounded, losses, origins, place_of, renamed, without_call
from analysis.rules._layer_training import layer_training
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import visible
from analysis.trace.reading import text

#: Losses that apply the sigmoid to their input.
_LOGITS = frozenset({"binary_cross_entropy_with_logits", "multilabel_soft_margin_loss", "sigmoid_focal_loss"})
_PROBABILITIES = "binary_cross_entropy"
_THROUGH = SHAPES | {"clamp", "clip"}
_SQUASHING = frozenset({"sigmoid", "softmax"})


def check(trace: Trace) -> Iterator[Reported]:
    """Each binary cross entropy whose input is a probability where it wants scores, or scores where it wants a probability."""
    told: set[tuple[Span, Span]] = set()
    for event in losses(trace, _LOGITS | {_PROBABILITIES}):
        for made in origins(event.detail[0], _THROUGH):
            if (made.span, event.span) not in told:
                told.add((made.span, event.span))
                yield from _judged(trace, event, made)


def _judged(trace: Trace, loss: Event, made: Made) -> Iterator[Reported]:
    if loss.subject in _LOGITS:
        if made.op in _SQUASHING:
            yield _twice(trace, loss, made, f"`{text(trace.snapshot, visible(loss, trace.snapshot.contents))}` applies the sigmoid to its input itself")
        return
    again = next((before for before in origins(made.inputs[:1], _THROUGH) if before.op in _SQUASHING), None) if made.op == "sigmoid" else None
    if again is not None:
        yield _twice(trace, loss, again, f"`{text(trace.snapshot, made.span)}` applies another one to the result")
    elif is_unbounded(made, _THROUGH):
        yield _raw(trace, loss, made)


def _twice(trace: Trace, loss: Event, made: Made, why: str) -> Reported:
    files = trace.snapshot.contents
    at = visible(loss, files)
    span = place_of(made, files, at)
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        f"the scores go through {made.op} here, and {why}: the loss sees values between 0.5 and 0.73 and can reach neither end",
        (Evidence(span, f"{made.op} makes probabilities of the scores"), Evidence(at, "this loss treats them as raw scores once more")),
    )
    change = without_call(trace, span, _SQUASHING)
    if change is None:
        return Reported(replace(finding, no_fix_because=f"the {made.op} is a layer of the model: take it out where the model is built"))
    return Reported(finding, Proposal("Does nothing else need probabilities here? Then give the loss the raw scores", Safety.REVIEW, (change,)))


def _raw(trace: Trace, loss: Event, made: Made) -> Reported:
    files = trace.snapshot.contents
    at = visible(loss, files)
    comes = made.span if made.span.path in files else at
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        at,
        f"`{text(trace.snapshot, at)}` wants probabilities and gets the raw scores of `{text(trace.snapshot, comes)}`: values outside 0…1 stop the program",
        (Evidence(comes, "the scores leave the last layer here, without a sigmoid"), Evidence(at, "this loss takes them as probabilities")),
    )
    new = renamed(trace, at, "binary_cross_entropy", "binary_cross_entropy_with_logits")
    if new is None:
        return Reported(replace(finding, no_fix_because="the loss is built elsewhere: use BCEWithLogitsLoss there"))
    return Reported(finding, Proposal("Use the loss that applies the sigmoid itself", Safety.SAFE, (ReplaceExpression(*new),)))


def _training(*lines: str) -> str:
    return layer_training(*lines, outputs=1)


RULE = Rule(
    "bce-activation",
    Severity.ERROR,
    "a binary cross entropy gets probabilities for scores, or scores for probabilities",
    __doc__,
    check,
    examples=(
        Bad(
            _training("guess = torch.sigmoid(net(x)).squeeze(-1)  # flagged", "loss = F.binary_cross_entropy_with_logits(guess, y)"),
            fixed=_training("guess = net(x).squeeze(-1)", "loss = F.binary_cross_entropy_with_logits(guess, y)"),
        ),
        Bad(
            _training("loss = F.binary_cross_entropy(net(x), y)  # flagged"),
            fixed=_training("loss = F.binary_cross_entropy_with_logits(net(x), y)"),
        ),
        Bad(
            _training("guess = net(x).sigmoid()  # flagged", "loss = torch.nn.BCELoss()(torch.sigmoid(guess), y)"),
            fixed=_training("guess = net(x)", "loss = torch.nn.BCELoss()(torch.sigmoid(guess), y)"),
        ),
        Good(_training("loss = F.binary_cross_entropy(torch.sigmoid(net(x)), y)")),
        Good(
            _training(
                "scores = net(x)",
                "sure = torch.sigmoid(scores)",
                "weight = (1 - sure) ** 2",
                "loss = (weight * F.binary_cross_entropy_with_logits(scores, y, reduction='none')).mean()",
            )
        ),
        Good(_training("with torch.no_grad():", "    soft = torch.sigmoid(net(x))", "loss = F.binary_cross_entropy_with_logits(net(x), soft)")),
    ),
)
