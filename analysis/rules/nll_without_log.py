"""The negative log likelihood gets values that are no log-probabilities.

`nll_loss` (`NLLLoss`) takes no logarithm: it returns minus the input at the label; `ctc_loss` (`CTCLoss`) adds up such inputs along paths. On
probabilities the gradient no longer grows where the model is wrong, and training stalls; on raw scores the loss has no lower bound and falls for ever
while the model learns little. Nothing complains. In an evaluation the number that is reported is no likelihood.

**How to fix it.** `F.nll_loss(F.log_softmax(scores, dim=1), y)`, or `F.cross_entropy(scores, y)`, which is both in one.

**What is not reported.** Inputs that went through `log_softmax` or `log`; scores that were not followed to a softmax or a layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported
from analysis.library.tensor import Made
from analysis.rule import Bad, Good, Rule
from analysis.rules._chains import SHAPES, UNBOUNDED, losses, origins, renamed
from analysis.rules._layer_training import layer_training
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import calls_to, visible
from analysis.trace.reading import text

_LOSSES = frozenset({"nll_loss", "ctc_loss"})
_PROBABILITIES = frozenset({"softmax", "sigmoid"})
_THROUGH = SHAPES | {"clamp", "clip"}
#: Operations whose result may be any number, and is no logarithm.
_SCORES = UNBOUNDED | {"matmul", "mm", "bmm", "addmm", "einsum"}


def check(trace: Trace) -> Iterator[Reported]:
    """Each nll_loss whose input is the output of a softmax or of a layer."""
    told: set[tuple[Span, Span]] = set()
    for event in losses(trace, _LOSSES):
        for made in origins(event.detail[0], _THROUGH):
            if made.op in _PROBABILITIES | _SCORES and (made.span, event.span) not in told:
                told.add((made.span, event.span))
                yield _reported(trace, event, made)


def _reported(trace: Trace, loss: Event, made: Made) -> Reported:
    files = trace.snapshot.contents
    at = visible(loss, files)
    comes = made.span if made.span.path in files else at
    squashed = made.op in _PROBABILITIES
    what = f"probabilities: the output of {made.op}" if squashed else f"raw scores: the output of `{text(trace.snapshot, comes)}`"
    measured = not loss.context.grad
    trained = "its gradient hardly grows where the model is wrong" if squashed else "it has no lower bound and falls for ever"
    effect = "what is measured here is no likelihood and cannot be compared with the loss of the training" if measured else trained
    finding = Finding(
        RULE.name,
        Severity.WARNING if measured else RULE.severity,
        Confidence.HIGH,
        at,
        f"`{text(trace.snapshot, at)}` wants log-probabilities and gets {what}; it takes no logarithm itself, so {effect}",
        (
            Evidence(comes, f"{made.op} gives {'probabilities' if squashed else 'raw scores'}"),
            *(Evidence(call, "the loss is called from here") for call in calls_to(loss, files)),
            Evidence(at, "this loss takes them as log-probabilities"),
        ),
    )
    if not squashed:
        new = renamed(trace, at, "nll_loss", "cross_entropy")
        if loss.subject == "ctc_loss":
            return Reported(replace(finding, no_fix_because="along which dimension the classes lie is for you to say: take log_softmax there"))
        if new is None:
            return Reported(replace(finding, no_fix_because="the loss is built elsewhere: use CrossEntropyLoss there"))
        return Reported(finding, Proposal("Use the loss that takes raw scores", Safety.SAFE, (ReplaceExpression(*new),)))
    new = renamed(trace, comes, "softmax", "log_softmax") if made.op == "softmax" else None
    if new is None:
        return Reported(replace(finding, no_fix_because=f"the {made.op} is a layer of the model or no softmax: what else reads its output is not known"))
    return Reported(finding, Proposal("Does nothing else need probabilities here? Then take their logarithm here", Safety.REVIEW, (ReplaceExpression(*new),)))


RULE = Rule(
    "nll-without-log",
    Severity.ERROR,
    "the negative log likelihood gets values that are no log-probabilities",
    __doc__,
    check,
    examples=(
        Bad(
            layer_training("out = F.softmax(net(x), dim=1)", "loss = F.nll_loss(out, y)  # flagged"),
            fixed=layer_training("out = F.log_softmax(net(x), dim=1)", "loss = F.nll_loss(out, y)"),
        ),
        Bad(
            layer_training("loss = F.nll_loss(net(x), y)  # flagged"),
            fixed=layer_training("loss = F.cross_entropy(net(x), y)"),
        ),
        Bad(layer_training("loss = F.nll_loss(x @ net(x), y)  # flagged"), fixed=layer_training("loss = F.cross_entropy(x @ net(x), y)")),
        Bad(
            layer_training("out = net(x).softmax(2).transpose(0, 1)", "loss = F.ctc_loss(out, y, [9], [5])  # flagged"),
            fixed=layer_training("out = net(x).log_softmax(2).transpose(0, 1)", "loss = F.ctc_loss(out, y, [9], [5])"),
        ),
        Bad(layer_training("loss = torch.nn.CTCLoss()(net(x).transpose(0, 1), y, [9], [5])  # flagged")),
        Good(layer_training("loss = F.ctc_loss(net(x).log_softmax(2).transpose(0, 1), y, [9], [5])")),
        Good(layer_training("loss = F.nll_loss(F.log_softmax(net(x), dim=1), y)")),
        Good(layer_training("loss = torch.nn.NLLLoss()(net(x).softmax(dim=1).clamp(min=1e-8).log(), y)")),
        Good(layer_training("sure = net(x).softmax(dim=1).max()", "loss = F.cross_entropy(net(x), y)", "print(sure)")),
    ),
)
