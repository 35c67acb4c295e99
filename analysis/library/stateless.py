"""``torch.func.functional_call``: a module run with parameters that are passed in; a backward through it comes to those, and not to its own."""

from __future__ import annotations

from analysis.interpreter.values import Call, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch.func import functional_call

net = torch.nn.Linear(2, 1)
held = {name: value.detach() for name, value in net.named_parameters()}
assert not functional_call(net, held, torch.zeros(1, 2)).requires_grad
adapted = {name: 2 * value for name, value in net.named_parameters()}
functional_call(net, adapted, (torch.zeros(1, 2),)).mean().backward()
""",
            ("backward",),
        ),
    ),
)


@SUBJECT.function("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def _functional_call(call: Call) -> Value:
    return domain_of(call).autograd.made("functional_call", (*call.args[1:], *call.kwargs.values()))
