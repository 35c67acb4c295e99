"""Accelerate's functions beside its accelerator: what all processes do together, called without one."""

from __future__ import annotations

from collections.abc import Callable

from analysis.interpreter.values import Call, Value
from analysis.library.distributed import alike
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import emit
from analysis.library.tensor import tensors_in
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from accelerate.utils import broadcast_object_list, gather, gather_object

gather(torch.zeros(2)).sum().item()
names = gather_object(["a"])
broadcast_object_list(names)
""",
            ("collective accelerate.gather", "item", "collective accelerate.gather_object", "collective accelerate.broadcast_object_list"),
        ),
    ),
)


def _together(name: str) -> Callable[[Call], Value]:
    """One of them: of tensors it makes tensors that are the same on all processes, of objects something that the source does not tell."""

    def run(call: Call) -> Value:
        given = call.get(0, "tensor", call.kwargs.get("object"))
        emit(call.machine, Kind.COLLECTIVE, subject=f"accelerate.{name}", value=given)
        domain = domain_of(call)
        found = [alike(domain.autograd.plain(name, tensor)) for tensor in tensors_in(given)]
        if not found:
            return given if name.startswith("broadcast") else domain.casting.symbol("what all processes have", call.span, call.machine.stamp)
        return tuple(found) if isinstance(given, (tuple, list)) else found[0]

    return run


for _name in ("gather", "gather_object", "broadcast", "broadcast_object_list", "reduce"):
    SUBJECT.function(f"accelerate.utils.{_name}", f"accelerate.utils.operations.{_name}")(_together(_name))
SUBJECT.function("accelerate.utils.wait_for_everyone")(_together("wait_for_everyone"))
