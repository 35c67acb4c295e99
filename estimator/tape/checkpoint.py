"""Activation checkpointing: tensors saved inside are dropped, and made again when backward first asks for one.

After torch/utils/checkpoint.py (non-reentrant): the function runs again under recording, what it saves fills the places of what
was dropped, and it stops as soon as the last one is filled.
"""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, ref

from estimator.tape.run import Tape, current
from estimator.tape.saved import Saved
from estimator.tape.tensor import Tensor


class RecomputationDone(BaseException):
    """Everything that was dropped is there again; the rest of the function need not run."""


class _Place:
    """The place of one dropped tensor, alive as long as the node that needs it."""

    __slots__ = ("__weakref__", "region", "tensor")

    def __init__(self, region: _Region) -> None:
        self.region = region
        self.tensor: Tensor | None = None


class _Region:
    """One checkpointed call: how to run it again, and the places it has to fill."""

    def __init__(self, tape: Tape, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        # Tensors are kept as saved ones: an enclosing checkpoint may drop them in turn.
        self.args = tuple(_kept(arg) for arg in args)
        self.kwargs = {name: _kept(arg) for name, arg in kwargs.items()}
        self.places: list[ReferenceType[_Place]] = []
        state = tape.autocast
        self.autocast = (state.enabled, state.dtype, state.cache_enabled)

    def recompute(self) -> None:
        """Run the function again until every place is filled."""
        tape = current()
        args = tuple(_given(arg) for arg in self.args)
        kwargs = {name: _given(arg) for name, arg in self.kwargs.items()}
        state, depth = tape.autocast, tape.depth
        before = (state.enabled, state.dtype, state.cache_enabled, state.depth)
        state.enabled, state.dtype, state.cache_enabled = self.autocast
        state.depth += 1
        tape.saved_hooks.append(_Refill(self.places))
        place = tape.place
        try:
            with tape.gradients(enabled=True):
                tape.call(self.function, args, kwargs)
        except RecomputationDone as done:
            done.__traceback__ = None
        finally:
            tape.saved_hooks.pop()
            # The function may have been stopped inside regions of its own: their ends are not run.
            state.enabled, state.dtype, state.cache_enabled, state.depth = before
            if not state.depth:
                state.casts.clear()
            tape.depth, tape.place = depth, place


class _KeptArgument:
    """A tensor argument, with its ties to the graph."""

    __slots__ = ("saved", "tensor")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor if tensor.is_leaf else None
        self.saved = None if tensor.is_leaf else Saved(tensor)

    def given(self) -> Tensor:
        """The tensor again; of its ties to the graph only that it wants a gradient matters to what is saved."""
        if self.saved is None:
            assert self.tensor is not None  # noqa: S101  a leaf, see above
            return self.tensor
        again = self.saved.unpack().alias()
        again.requires_grad = True
        return again


def _kept(arg: Any) -> Any:
    return _KeptArgument(arg) if isinstance(arg, Tensor) else arg


def _given(arg: Any) -> Any:
    return arg.given() if isinstance(arg, _KeptArgument) else arg


class _Drop:
    """While the function runs the first time: a place instead of each saved tensor."""

    def __init__(self, region: _Region) -> None:
        self.region = region

    def pack(self, _tensor: Tensor) -> _Place:
        place = _Place(self.region)
        self.region.places.append(ref(place))
        return place

    def unpack(self, packed: _Place) -> Tensor:
        if packed.tensor is None:
            packed.region.recompute()
        tensor, packed.tensor = packed.tensor, None
        if tensor is None:
            raise RuntimeError("a checkpointed function saved other tensors the second time")
        return tensor


class _Refill:
    """While the function runs again: each saved tensor goes to its place, if something still needs it."""

    def __init__(self, places: list[ReferenceType[_Place]]) -> None:
        self.places = places
        self.filled = 0

    def pack(self, tensor: Tensor) -> Tensor:
        kept = tensor.alias()
        if self.filled < len(self.places):
            place = self.places[self.filled]()
            self.filled += 1
            if place is not None:
                place.tensor = kept
            if self.filled == len(self.places):
                raise RecomputationDone
        return kept

    def unpack(self, packed: Tensor) -> Tensor:
        return packed


def checkpoint(function: Any, *args: Any, **kwargs: Any) -> Any:
    """``torch.utils.checkpoint.checkpoint``. The reentrant form keeps the same and is run the same way."""
    for option in ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"):
        kwargs.pop(option, None)
    tape = current()
    if not tape.grad_enabled:
        return tape.call(function, args, kwargs)
    tape.checkpoints += 1
    region = _Region(tape, function, args, kwargs)
    tape.saved_hooks.append(_Drop(region))
    try:
        return tape.call(function, args, kwargs)
    finally:
        tape.saved_hooks.pop()


def checkpoint_sequential(functions: Any, segments: int, input: Any, **kwargs: Any) -> Any:  # noqa: A002  PyTorch's signature
    """``torch.utils.checkpoint.checkpoint_sequential``: all segments but the last are checkpointed."""
    parts = list(functions)
    size = len(parts) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(_Chain(parts[start : start + size]), input, **kwargs)  # noqa: A001
    return _Chain(parts[size * (segments - 1) :])(input)


class _Chain:
    """Functions one after another."""

    def __init__(self, functions: list[Any]) -> None:
        self.functions = functions

    def __call__(self, x: Any) -> Any:
        tape = current()
        for function in self.functions:
            x = tape.call(function, (x,), {})
        return x
