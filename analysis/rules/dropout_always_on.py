"""Dropout stays on in evaluation.

`F.dropout(x, p)` drops values whatever mode the model is in: its `training` is true unless it is passed. So does
`F.scaled_dot_product_attention(…, dropout_p=p)`, and a `nn.Dropout` built inside `forward`, which `eval()` never reaches. Evaluations and predictions are
then random and worse than the model is, and nothing complains.

**How to fix it.** `F.dropout(x, p, training=self.training)`, `dropout_p=p if self.training else 0.0`, or a `nn.Dropout` built in `__init__`.

**What is not reported.** Dropout that is told `training=` something, `True` included (Monte Carlo dropout); dropout that no forward in
evaluation mode reaches; a rate of zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, SetArgument
from analysis.interpreter.values import Instance
from analysis.library.dropout import Unasked
from analysis.library.ownership import modules_in
from analysis.rule import Bad, Good, Rule
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.reading import around, call_at, span_of


def check(trace: Trace) -> Iterator[Reported]:
    """Dropout that does not ask for the mode and runs in a forward in evaluation mode."""
    told: set[Span] = set()
    for event in trace.events(Kind.DROPOUT):
        dropped: Unasked = event.detail
        inside = dropped.layer is not None and any(each is dropped.layer for each in modules_in(event.subject))
        if dropped.training is False and not inside and event.span.path in trace.snapshot.contents and event.span not in told:
            told.add(event.span)
            yield _reported(trace, event, dropped)


def _reported(trace: Trace, event: Event, dropped: Unasked) -> Reported:
    files = trace.snapshot.contents
    span = event.span
    model: Instance = event.subject
    ran = next((call for call in reversed(event.path) if call.path in files), span)
    call = call_at(trace.snapshot, span)
    attention = _is_attention(call)
    known = isinstance(dropped.rate, (int, float)) or not attention
    why = (
        "the layer is built inside the forward, where eval() does not reach it"
        if dropped.layer is not None
        else "`dropout_p` applies in every mode"
        if attention
        else "without `training=` it is always on"
    )
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH if known else Confidence.MEDIUM,
        span,
        f"dropout stays on after `eval()`: {why}, so what `{model.cls.name}` predicts is random",
        (Evidence(ran, "reached by a forward in evaluation mode"), Evidence(span, f"values are dropped here: {why}")),
    )
    if call is None or dropped.layer is not None:
        return Reported(replace(finding, no_fix_because="the layer has to be built in __init__ and kept on the module"))
    if not _in_method(trace, span):
        return Reported(replace(finding, no_fix_because="the mode of the model is not at hand here: pass it in"))
    if not attention:
        return Reported(finding, Proposal("Ask for the mode: training=self.training", Safety.SAFE, (SetArgument(span, "training", "self.training"),)))
    rate = next((keyword.value for keyword in call.keywords if keyword.arg == "dropout_p"), None)
    written = span_of(trace.snapshot, span.path, rate) if rate is not None else None
    source = trace.snapshot.source(span.path)
    if written is None or not isinstance(source, SourceFile):
        return Reported(replace(finding, no_fix_because="the rate is not written as a keyword"))
    mode = f"{source.text(written)} if self.training else 0.0"
    return Reported(finding, Proposal("Drop in training mode only", Safety.SAFE, (SetArgument(span, "dropout_p", mode),)))


def _is_attention(call: ast.Call | None) -> bool:
    """Whether the rate is a keyword of the fused attention."""
    match call:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name == "scaled_dot_product_attention"
    return False


def _in_method(trace: Trace, span: Span) -> bool:
    """Whether ``self`` is at hand."""
    stands = around(trace.snapshot, span)
    function = stands.function if stands is not None else None
    return function is not None and bool(function.args.args) and function.args.args[0].arg == "self"


_NET = """
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self, p=0.2):
        super().__init__()
        self.p = p
        self.body = nn.Linear(8, 8)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        {forward}

def main(loader, held_out):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(10):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            F.mse_loss(net(x), y).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            print(sum(F.mse_loss(net(x), y).item() for x, y in held_out))
"""

RULE = Rule(
    "dropout-always-on",
    Severity.ERROR,
    "dropout stays on in evaluation",
    __doc__,
    check,
    examples=(
        Bad(
            _NET.format(forward="return F.dropout(self.body(x), self.p)  # flagged"),
            fixed=_NET.format(forward="return F.dropout(self.body(x), self.p, training=self.training)"),
        ),
        Bad(
            _NET.format(forward="q = self.body(x)\n        return F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)  # flagged"),
            fixed=_NET.format(forward="q = self.body(x)\n        return F.scaled_dot_product_attention(q, q, q, dropout_p=0.1 if self.training else 0.0)"),
        ),
        Bad(_NET.format(forward="return nn.Dropout(0.1)(self.body(x))  # flagged")),
        Good(_NET.format(forward="return F.dropout(self.body(x), self.p, self.training)")),
        Good(_NET.format(forward="return F.dropout(self.drop(self.body(x)), self.p, training=True)")),
        Good(_NET.format(forward="return F.dropout(x, self.p) if self.training else self.body(x)")),
        Good(_NET.format(forward="q = self.body(x)\n        return F.scaled_dot_product_attention(q, q, q, dropout_p=self.p if self.training else 0)")),
    ),
)
