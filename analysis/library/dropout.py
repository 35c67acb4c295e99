"""Dropout as a function: whether it asks for the mode of the model in whose forward it runs."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.interpreter.values import Call, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import emit, modes
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch import nn
from torch.nn import functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)

    def forward(self, x):
        return F.dropout(self.body(x), 0.1)

Net()(torch.zeros(1, 2))
""",
            ("dropout Net", "forward Net"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Unasked:
    """The detail of a ``DROPOUT``, which drops without asking for the mode: its rate, and whether the model was in training mode.

    ``layer``: the layer that a forward built for this one call.
    """

    rate: Value
    training: Value
    layer: Instance | None = None


def dropped(call: Call, rate: Value, layer: Instance | None = None) -> None:
    """Write down that a forward drops values whatever the mode."""
    model = modes(call.machine).forwarding
    if model is not None and not (isinstance(rate, (int, float)) and rate == 0):
        emit(call.machine, Kind.DROPOUT, subject=model, detail=Unasked(rate, model.fields.get("training"), layer))


def _function(name: str) -> HostFunction:
    def run(call: Call) -> Value:
        if not call.given(2, "training") and "*" not in call.kwargs:
            dropped(call, call.get(1, "p", 0.5))
        return domain_of(call).autograd.made("dropout", tuple(call.args), call.kwargs)

    return HostFunction(name, run)


for _name in ("dropout", "dropout1d", "dropout2d", "dropout3d"):
    SUBJECT.values[f"torch.nn.functional.{_name}"] = _function(_name)


@SUBJECT.function("torch.nn.functional.scaled_dot_product_attention")
def _attention(call: Call) -> Value:
    rate = call.get(4, "dropout_p", 0.0)
    if isinstance(rate, (int, float, Symbol)):
        dropped(call, rate)
    return domain_of(call).autograd.made("scaled_dot_product_attention", tuple(call.args), call.kwargs)
