"""Tensors kept for backward, and the hooks that checkpointing puts in their place."""

from __future__ import annotations

from typing import Any, Protocol

from estimator.tape.run import current
from estimator.tape.tensor import Tensor


class SavedTensorHooks(Protocol):
    """What replaces saved tensors while it is on the tape's stack (``torch.autograd.graph.saved_tensors_hooks``)."""

    def pack(self, tensor: Tensor, /) -> Any:
        """What to keep instead of ``tensor``."""
        ...

    def unpack(self, packed: Any, /) -> Tensor:
        """The tensor again, when backward asks for it."""
        ...


class Saved:
    """A tensor kept for backward, without its own graph: an output that a node keeps must not keep the node."""

    __slots__ = ("hooks", "packed")

    def __init__(self, tensor: Tensor) -> None:
        hooks = current().saved_hooks
        self.hooks = hooks[-1] if hooks else None
        self.packed: Any = self.hooks.pack(tensor) if self.hooks else tensor.alias()

    def unpack(self) -> Tensor:
        """The tensor, rerunning what was dropped if need be."""
        if self.hooks is None:
            kept: Tensor = self.packed
            return kept
        return self.hooks.unpack(self.packed)
