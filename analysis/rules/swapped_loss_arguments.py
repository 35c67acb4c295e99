"""A loss gets its arguments in the wrong order.

`F.cross_entropy(labels, scores)`: every loss of PyTorch takes the prediction first and the target second. In scikit-learn and in Keras it is the other way
round. A symmetric loss does not care; the others either stop with a message about types and shapes, or compute something else: the binary cross
entropy of a label of exactly 0 or 1 is as large as it can be wherever the prediction is not the same number.

**How to fix it.** The prediction first: `F.cross_entropy(scores, labels)`.

**What is not reported.** Symmetric losses (`mse_loss`, `l1_loss`, `smooth_l1_loss`); losses both of whose arguments carry a graph, or neither; targets that are
learned from predictions on purpose (`kl_div` with the student second).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Symbol, Value
from analysis.library.casting import Castable, batches_of
from analysis.library.tensor import Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._chains import losses, origins
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import frames, visible
from analysis.trace.reading import around, call_at, text

#: Losses that treat input and target differently.
_ONE_WAY = frozenset(
    ["cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "poisson_nll_loss", "gaussian_nll_loss", "soft_margin_loss",
     "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "hinge_embedding_loss", "sigmoid_focal_loss"]
)  # fmt: skip
_DISTRIBUTIONS = "kl_div"
#: Methods whose result is the same data, elsewhere or of another type.
_MOVES = frozenset({".to", ".cuda", ".cpu", ".long", ".float"})
_LOGARITHMS = frozenset({"log_softmax", "log"})


def check(trace: Trace) -> Iterator[Reported]:
    """Losses whose target was predicted with a graph, and whose input comes straight from the data."""
    told: set[Span] = set()
    for event in losses(trace, _ONE_WAY | {_DISTRIBUTIONS}):
        given, target, options = event.detail
        swapped = (
            _logarithm_second(given, target, options) if event.subject == _DISTRIBUTIONS else event.context.grad and _is_data(given) and _is_predicted(target)
        )
        if swapped and event.span not in told:
            told.add(event.span)
            yield _reported(trace, event, given, target)


def _is_predicted(value: Value) -> bool:
    """Whether a forward with a graph made it."""
    return isinstance(value, Tensor) and value.attached and bool(value.forwards)


def _is_data(value: Value) -> bool:
    """Whether it comes from a loader, from plain data or from an argument, and no model had a hand in it."""
    if isinstance(value, Symbol):
        unmoved = _before_moves(value)
        return unmoved.why.isidentifier() or batches_of(unmoved) is not None
    if not isinstance(value, Tensor) or value.attached:
        return False
    made = [tensor.made for tensor in ancestors(value) if tensor.made is not None]
    return any(each.op in {"batch", "tensor", "from_numpy", "as_tensor"} for each in made) and not any("module" in each.options for each in made)


def _before_moves(symbol: Symbol) -> Symbol:
    """What ``x.cuda()``, ``x.to(device)`` or ``x.long()`` was called on."""
    while isinstance(symbol, Castable) and isinstance(symbol.callee, Castable) and symbol.callee.key in _MOVES and symbol.callee.whole is not None:
        symbol = symbol.callee.whole
    return symbol


def _logarithm_second(given: Value, target: Value, options: dict[str, Value]) -> bool:
    """Probabilities first, log-probabilities second."""
    if options.get("log_target", False) is not False:
        return False
    return any(made.op == "softmax" for made in origins(given)) and any(made.op in _LOGARITHMS for made in origins(target))


def _where_swapped(trace: Trace, loss: Event) -> Span:
    """The loss; where a function hands on two parameters of its own in their order, the call of that function."""
    files = trace.snapshot.contents
    at = visible(loss, files)
    way = frames(loss)
    while at in way[1:]:
        call, stands = call_at(trace.snapshot, at), around(trace.snapshot, at)
        before = way[way.index(at) - 1]
        names = [each.id for each in call.args[:2] if isinstance(each, ast.Name)] if call is not None else []
        parameters = [each.arg for each in stands.function.args.args] if stands is not None and stands.function is not None else []
        handed = len(names) == 2 and all(name in parameters for name in names) and parameters.index(names[0]) < parameters.index(names[1])  # noqa: PLR2004
        if not handed or before.path not in files:
            break
        at = before
    return at


def _reported(trace: Trace, loss: Event, given: Value, target: Value) -> Reported:
    files = trace.snapshot.contents
    at = _where_swapped(trace, loss)
    where = [(tensor.made.span, tensor) for value in (given, target) for tensor in tensors_in(value) if tensor.made is not None]
    second = where[-1][0] if where and where[-1][0].path in files else at
    logarithm = loss.subject == _DISTRIBUTIONS
    what = "probabilities first and log-probabilities second" if logarithm else "the target first and the prediction second"
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM if isinstance(given, Symbol) else Confidence.HIGH,
        at,
        f"`{text(trace.snapshot, at)}` gets {what}: the prediction comes first in PyTorch, so this computes another loss",
        (
            Evidence(second, "the prediction is made here"),
            Evidence(at, "and is passed as the second argument of a loss that treats its two arguments differently"),
        ),
    )
    source = trace.snapshot.source(at.path)
    call = call_at(trace.snapshot, at)
    if call is None or not isinstance(source, SourceFile) or len(call.args) < 2 or any(isinstance(each, ast.Starred) for each in call.args):  # noqa: PLR2004
        return Reported(replace(finding, no_fix_because="the two arguments do not stand next to each other in this call"))
    first, other = source.span(call.args[0]), source.span(call.args[1])
    changes = (ReplaceExpression(first, source.text(other)), ReplaceExpression(other, source.text(first)))
    return Reported(finding, Proposal("Pass the prediction first", Safety.SAFE, changes))


_TRAIN = """
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

def train(data):
    net = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(data, 16, shuffle=True):
{body}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def _training(*lines: str) -> str:
    return _TRAIN.format(body="\n".join(f"        {line}" for line in lines))


_WEIGHTED = """
import torch
from torch.utils.data import DataLoader

class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = torch.nn.CrossEntropyLoss(weight=torch.ones(3))

    def forward(self, scores, labels):
        return self.loss(scores, labels)

def train(data):
    net, criterion = torch.nn.Linear(8, 3), Weighted()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=4):
        optimizer.zero_grad()
        criterion({arguments}).backward(){mark}
        optimizer.step()
"""

RULE = Rule(
    "swapped-loss-arguments",
    Severity.ERROR,
    "a loss gets its arguments in the wrong order",
    __doc__,
    check,
    examples=(
        Bad(_WEIGHTED.format(arguments="y, net(x)", mark="  # flagged"), fixed=_WEIGHTED.format(arguments="net(x), y", mark="")),
        Bad(
            _training("loss = F.binary_cross_entropy(y, torch.sigmoid(net(x)))  # flagged"),
            fixed=_training("loss = F.binary_cross_entropy(torch.sigmoid(net(x)), y)"),
        ),
        Bad(
            _training("scores = net(x)", "loss = torch.nn.CrossEntropyLoss()(y.cuda(), scores)  # flagged"),
            fixed=_training("scores = net(x)", "loss = torch.nn.CrossEntropyLoss()(scores, y.cuda())"),
        ),
        Bad(
            """
import torch.nn.functional as F

def training_step(model, optimizer, x, labels):
    model.train()
    optimizer.zero_grad()
    loss = F.binary_cross_entropy_with_logits(labels, model(x))  # flagged
    loss.backward()
    optimizer.step()
""",
            fixed="""
import torch.nn.functional as F

def training_step(model, optimizer, x, labels):
    model.train()
    optimizer.zero_grad()
    loss = F.binary_cross_entropy_with_logits(model(x), labels)
    loss.backward()
    optimizer.step()
""",
        ),
        Good(_training("loss = F.cross_entropy(net(x), y)")),
        Good(_training("loss = F.mse_loss(y, net(x))")),
        Good(
            _training(
                "with torch.no_grad():",
                "    hard = net(x).softmax(dim=1)",
                "loss = F.kl_div(hard.log(), net(x).softmax(dim=1)) + F.cross_entropy(target=y, input=net(x))",
            )
        ),
    ),
)
