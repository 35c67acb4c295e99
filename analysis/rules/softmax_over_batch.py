"""A softmax runs over the batch instead of the classes.

With `dim=0` on scores of shape (batch, classes) each *class* sums to one over the samples of the batch: what a sample gets depends on which others happen to
be in its batch. Without `dim` PyTorch guesses, and for scores of one or three dimensions it guesses 0. Shapes are right either way, and nothing complains.

**How to fix it.** Name the dimension of the classes: `dim=-1` for scores whose last dimension they are, `dim=1` for images.

**What is not reported.** `dim=0` on one sample's scores, on parameters, on stacked lists and on values that were indexed, squeezed or transposed first;
a missing `dim` on scores of two or four dimensions, where the guess is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, SetArgument
from analysis.interpreter.values import Value
from analysis.library.tensor import Made, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._chains import UNBOUNDED, losses, origins
from analysis.rules._layer_training import layer_training
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import call_at, text

_SOFTMAXES = frozenset({"softmax", "log_softmax"})
#: Losses whose input has the batch first.
_BATCHED = frozenset({"cross_entropy", "nll_loss", "kl_div", "binary_cross_entropy"})
#: What may stand between the softmax and the loss, and between the layer and the softmax, without moving the batch.
_AFTER = frozenset({"log", "clamp", "clip", "to", "float", "double", "half", "contiguous", "clone", "add"})
_BEFORE = frozenset({"to", "float", "double", "half", "contiguous", "clone", "truediv", "mul", "dropout", "add"})
#: Operations whose result has three dimensions, always.
_THREE = frozenset({"bmm", "baddbmm"})
#: Operations that take a value per row along the dimension that they are given.
_PICKING = frozenset({"gather", "max", "argmax", "index_select", "take_along_dim", "topk"})
_DEFAULT = -1000


def check(trace: Trace) -> Iterator[Reported]:
    """Softmaxes over the first dimension of scores that a loss reads as a batch, or of a batch of matrices."""
    told: set[Span] = set()
    for event in losses(trace, _BATCHED):
        for made in origins(event.detail[0], _AFTER):
            if made.op in _SOFTMAXES and _dimension(made) == 0 and _of_batch(trace, made) and made.span not in told:
                told.add(made.span)
                yield _reported(trace, made, event)
    for made in (each for learned in _learned(trace) for each in (*_picked_by_row(learned), *_weights_of_sum(learned))):
        if _of_batch(trace, made) and made.span not in told:
            told.add(made.span)
            yield _reported(trace, made, None)
    for made in _all_softmaxes(trace):
        matrices = any(before.op in _THREE for before in origins(made.inputs[:1], _BEFORE))
        if matrices and _dimension(made) in {0, None} and made.span not in told:
            told.add(made.span)
            yield _reported(trace, made, None)


def _learned(trace: Trace) -> Iterator[Made]:
    """The operations that losses were made by, each once."""
    seen: set[Made] = set()
    for event in trace.events(Kind.BACKWARD):
        for tensor in ancestors(event.value):
            if tensor.made is not None and tensor.made not in seen:
                seen.add(tensor.made)
                yield tensor.made


def _picked_by_row(made: Made) -> Iterator[Made]:
    """Softmaxes over the first dimension from whose result something is picked along the second: each row is one sample's scores."""
    if made.op in _PICKING and any(isinstance(each, int) and each == 1 for each in (made.options.get("dim"), *made.inputs[1:2])):
        yield from (each for each in origins(made.inputs[:1], _AFTER) if each.op in _SOFTMAXES and _dimension(each) == 0)


def _weights_of_sum(made: Made) -> Iterator[Made]:
    """Softmaxes over the first dimension whose result weighs what is then summed along another one: the weights of no sum add up to one."""
    along = made.options.get("dim", made.inputs[1] if len(made.inputs) > 1 else None) if made.op == "sum" else None
    if isinstance(along, int) and along >= 1:  # the last dimension of one sample's scores is the first, too
        for product in (each.made for each in made.tensors[:1] if each.made is not None and each.made.op == "mul"):
            yield from (each for each in origins(product.inputs, _AFTER) if each.op in _SOFTMAXES and _dimension(each) == 0)


def _dimension(made: Made) -> int | None:
    """The dimension the softmax runs over; None: the call names none. What is not known counts as a right one."""
    given = made.options.get("dim", made.inputs[1] if len(made.inputs) > 1 else _layer_argument(made))
    return given if given is None or (isinstance(given, int) and not isinstance(given, bool)) else _DEFAULT


def _layer_argument(made: Made) -> Value:
    """The dimension that a layer was built with."""
    arguments = made.options.get("arguments", ())
    return arguments[0] if isinstance(arguments, tuple) and arguments else None


def _of_batch(trace: Trace, made: Made) -> bool:
    """Whether the scores are what a layer or a model made of a batch, first dimension and all."""
    return any(each.op in UNBOUNDED or "module" in each.options for each in origins(made.inputs[:1], _BEFORE)) and made.span.path in trace.snapshot.contents


def _all_softmaxes(trace: Trace) -> Iterator[Made]:
    seen: set[Tensor] = set()
    for event in trace.events(Kind.LOSS, Kind.FORWARD):
        for value in tensors_in(event.value if event.kind is Kind.FORWARD else event.detail[:2]):
            for tensor in ancestors(value):
                if tensor not in seen and tensor.made is not None and tensor.made.op in _SOFTMAXES:
                    seen.add(tensor)
                    yield tensor.made


def _reported(trace: Trace, made: Made, loss: Event | None) -> Reported:
    files = trace.snapshot.contents
    span = made.span
    named = _dimension(made) is not None
    scores = next(iter(origins(made.inputs[:1], _BEFORE)), made)
    comes = scores.span if scores.span.path in files else span
    last = (
        Evidence(visible(loss, files), "and this loss reads each row as one sample")
        if loss is not None
        else Evidence(span, "normalised over its first dimension")
    )
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` normalises over the batch{'' if named else ' (without dim it runs over dimension 0 here)'}: "
        "what one sample gets depends on the others in its batch",
        (Evidence(comes, "scores of a whole batch"), last),
    )
    if call_at(trace.snapshot, span) is None or len(made.inputs) > 1 or "softmax" not in text(trace.snapshot, span):
        return Reported(replace(finding, no_fix_because="the dimension is not written here as dim=…"))
    return Reported(finding, Proposal("Are the classes the last dimension? Then normalise over that", Safety.REVIEW, (SetArgument(span, "dim", "-1"),)))


RULE = Rule(
    "softmax-over-batch",
    Severity.WARNING,
    "a softmax runs over the batch instead of the classes",
    __doc__,
    check,
    examples=(
        Bad(
            layer_training("guess = F.log_softmax(net(x), dim=0)  # flagged", "loss = F.nll_loss(guess, y)"),
            fixed=layer_training("guess = F.log_softmax(net(x), dim=-1)", "loss = F.nll_loss(guess, y)"),
        ),
        Bad(
            layer_training("h = net(x)", "mix = torch.softmax(torch.bmm(h, h.transpose(1, 2)) / 8, dim=0)  # flagged", "loss = F.mse_loss(mix @ h, y)"),
            fixed=layer_training("h = net(x)", "mix = torch.softmax(torch.bmm(h, h.transpose(1, 2)) / 8, dim=-1)", "loss = F.mse_loss(mix @ h, y)"),
        ),
        Bad(layer_training("loss = F.nll_loss(torch.nn.LogSoftmax(0)(net(x)), y)  # flagged")),
        Bad(
            layer_training("chances = F.softmax(net(x), dim=0)  # flagged", "loss = -chances.gather(1, y[:, None]).log().mean()"),
            fixed=layer_training("chances = F.softmax(net(x), dim=-1)", "loss = -chances.gather(1, y[:, None]).log().mean()"),
        ),
        Bad(
            layer_training("weights = F.softmax(net(x), dim=0)  # flagged", "loss = F.mse_loss((weights * x).sum(1), y)"),
            fixed=layer_training("weights = F.softmax(net(x), dim=-1)", "loss = F.mse_loss((weights * x).sum(1), y)"),
        ),
        Good(layer_training("weights = F.softmax(net(x), dim=0)", "loss = F.mse_loss((weights * x).sum(0), y)")),
        Good(layer_training("loss = -F.softmax(net(x[0]), dim=0)[y[0]].log()")),
        Good(layer_training("loss = F.nll_loss(torch.nn.LogSoftmax(1)(net(x)), y)")),
        Good(layer_training("loss = F.nll_loss(F.log_softmax(net(x)[0], dim=0).unsqueeze(0), y)")),
        Good(layer_training("weights = torch.stack([net(x), net(x)]).softmax(dim=0)", "loss = F.mse_loss((weights * x).sum(0), y)")),
    ),
)
