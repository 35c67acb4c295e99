"""Means over unequal numbers of tokens are averaged.

With `ignore_index`, or as `(loss * mask).sum() / mask.sum()`, a cross entropy is a mean over the tokens that count. Micro-batches hold different
numbers of them, so the mean of their means is not the mean over the window: a token in a short micro-batch weighs more than one in a long one.

**How to fix it.** Sum the losses (`reduction="sum"`) and divide by the number of counted tokens of the whole window.

**What is not reported.** Losses without `ignore_index`; other markers than -100 and the token that pads (the 255 of dense
prediction); a helper that passes its own default on, which is PyTorch's and says nothing of the data; sum reductions with a global count; losses that a
model computes inside itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.enclosing import Enclosing
from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Symbol, Value
from analysis.library.tensor import Made, Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._chains import SHAPES, origins
from analysis.rules._gradients import gradients_of
from analysis.rules._scaling import Reduction, Scaling, framework_window, scaling_of
from analysis.rules._windows import Window, windows
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.places import visible
from analysis.trace.reading import around, call_at, text

_OVER_TOKENS = frozenset({"cross_entropy", "nll_loss"})
#: What may stand between a count and the division by it.
_LIMITS = SHAPES | {"clamp", "clip", "clamp_min", "add"}
#: What tokens that do not count are called: the marker of language models, or the token that pads. Others, as the 255 of void pixels, are something else.
_UNCOUNTED = frozenset({-100, 0})


def check(trace: Trace) -> Iterator[Reported]:
    """Windows whose loss is a mean over the tokens that are not ignored, divided by the window."""
    told: set[Span] = set()
    for gradients in gradients_of(trace):
        for window in windows(trace, gradients):
            made = _mean_over_tokens(window)
            if made is not None and made.span not in told and made.span.path in trace.snapshot.contents and not _is_a_default(trace.snapshot, made.span):
                told.add(made.span)
                yield _reported(trace, window, made)


def _mean_over_tokens(window: Window) -> Made | None:
    if not window.stepped or window.unsure or not window.in_one_loop():
        return None
    backward = window.backwards[0]
    scaling = scaling_of(backward.value)
    averaged = bool(scaling.divided) or framework_window(backward.subject) != 1
    if averaged and scaling.reductions == [Reduction.SUM] and len(scaling.terms) == 1:
        return _quotient(scaling, others=framework_window(backward.subject) != 1)
    if not averaged or len(scaling.terms) != 1 or scaling.reductions != [Reduction.MEAN]:
        return None
    made = scaling.terms[0]
    ignored = made.options.get("ignore_index")
    counts = isinstance(ignored, Symbol) or (isinstance(ignored, int) and ignored in _UNCOUNTED)
    return made if made.op in _OVER_TOKENS and counts else None


def _quotient(scaling: Scaling, *, others: bool) -> Made | None:
    """The division of ``(loss * mask).sum()`` by the sum of the same mask, if what it gives is divided by the window too (``others``: by a framework)."""
    counted = [(each, _summed(each.divisor)) for each in scaling.divided]
    masks = [(each.made, mask) for each, mask in counted if mask is not None]
    above = scaling.terms[0].inputs[0] if scaling.terms[0].op == "sum" and scaling.terms[0].inputs else None
    if len(masks) != 1 or not (others or len(counted) > 1) or not isinstance(above, Tensor) or above.made is None or above.made.op != "mul":
        return None
    factors = [made for given in above.made.inputs[:2] for made in origins(given)]
    divided, mask = masks[0]
    per_token = any(made.op in _OVER_TOKENS and made.options.get("reduction") == "none" for made in factors)
    return divided if per_token and any(made in factors for made in origins(mask)) else None


def _summed(divisor: Value) -> Tensor | None:
    """What ``mask.sum()`` adds up, if the divisor is that."""
    for made in origins(divisor, _LIMITS):
        inner = made.inputs[0] if made.op == "sum" and made.inputs else None
        if isinstance(inner, Tensor):
            return inner
    return None


def _is_a_default(snapshot: Snapshot, span: Span) -> bool:
    """Whether the marker is an argument of the function around the loss, or of what makes its object, which has a default for it."""
    call, stands = call_at(snapshot, span), around(snapshot, span)
    match next((each.value for each in call.keywords if each.arg == "ignore_index"), None) if call is not None else None, stands:
        case ast.Name(id=name), Enclosing(function=ast.FunctionDef() as function):
            return name in _defaulted(function.args)
        case ast.Attribute(value=ast.Name(), attr=name), Enclosing(statements=statements):
            made = (each for cls in statements if isinstance(cls, ast.ClassDef) for each in cls.body)
            return any(isinstance(each, ast.FunctionDef) and each.name == "__init__" and name in _defaulted(each.args) for each in made)
    return False


def _defaulted(given: ast.arguments) -> set[str]:
    positional = [*given.posonlyargs, *given.args]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return {each.arg for each in positional[len(positional) - len(given.defaults) :]} | {each.arg for each, default in named if default is not None}


def _reported(trace: Trace, window: Window, made: Made) -> Reported:
    files = trace.snapshot.contents
    backward, step = window.backwards[0], window.end or window.backwards[0]
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        made.span,
        f"`{text(trace.snapshot, made.span)}` is a mean over the tokens that count in one micro-batch: the mean of these means weighs tokens unequally",
        (
            Evidence(made.span, "the mean is taken over the tokens of one micro-batch that are not ignored"),
            Evidence(visible(backward, files), "each micro-batch gets the same weight, however many tokens it has"),
            Evidence(visible(step, files), "and this step takes their sum"),
        ),
        no_fix_because="the number of counted tokens of the whole window must be known before its first backward",
    )
    return Reported(finding)


RULE = Rule(
    "token-mean-accumulation",
    Severity.WARNING,
    "means over unequal numbers of tokens are averaged",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (ids, labels) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)  # flagged
        (loss / steps).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (ids, labels, tokens) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
        (loss / tokens).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for ids, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def loss_of(logits, targets, ignore_index=-100):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=ignore_index)

def train(model, loader, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, ids in enumerate(loader):
        loss = loss_of(model(ids[:, :-1]), ids[:, 1:])
        (loss / steps).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch

class Loss(torch.nn.Module):
    def __init__(self, ignore_index=-100):
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, logits, targets):
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=self.ignore_index)

def train(model, loader, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of = Loss()
    for i, (ids, labels) in enumerate(loader):
        (loss_of(model(ids), labels) / steps).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
        ),
    ),
)
