"""What the forward of a model gives: the tensors in it, and whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.values import Instance, Value
from analysis.library.ownership import is_module
from analysis.library.tensor import Parameter, tensors_in

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain


def held_in(result: Value) -> Value:
    """What a forward gave: of a record of outputs, what it holds."""
    return tuple(result.fields.values()) if isinstance(result, Instance) and not is_module(result) else result


def gather_owners(domain: TraceDomain, model: Instance, result: Value) -> None:
    """Outputs belong to the model that was called, not to the layers that its forward went through."""
    inside = domain.ownership.atoms(model, trainable=False)
    for tensor in tensors_in(held_in(result)):
        others = tensor.owners - inside
        if len(others) < len(tensor.owners) and not isinstance(tensor, Parameter):
            tensor.owners = others | {model}
