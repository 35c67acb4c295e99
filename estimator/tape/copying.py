"""Copies: another dtype, device or layout of the same numbers."""

from __future__ import annotations

from collections.abc import Sequence

from estimator.tape.device import Device
from estimator.tape.dtype import Dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.shape import Shape, contiguous_strides, elementwise_strides
from estimator.tape.tensor import Tensor, new


def copied(x: Tensor, dtype: Dtype | None = None, device: Device | None = None, strides: Shape | None = None) -> Tensor:
    """A copy of ``x``; the layout is kept unless ``strides`` are given."""
    dtype, device = dtype or x.dtype, device or x.device
    differentiable = dtype.is_floating_point or dtype.is_complex
    node = record((x,), _copied_back, context=(x.dtype, x.device)) if differentiable else None
    result = new(x.shape, dtype, device, same_layout(x) if strides is None else strides)
    if dtype == x.dtype or not x.dtype.is_floating_point:
        result.values = x.values if device == x.device or not device.counted or not x.dtype.is_floating_point else None
    tracked(node, result)
    return result


def cast(x: Tensor, dtype: Dtype) -> Tensor:
    """``x`` in ``dtype``: itself if it is already."""
    return x if x.dtype == dtype else copied(x, dtype)


def contiguous(x: Tensor) -> Tensor:
    """``x`` row-major: itself if it is already."""
    return x if x.contiguous_layout else copied(x, strides=contiguous_strides(x.shape))


def like(x: Tensor, dtype: Dtype | None = None) -> Tensor:
    """New memory in the shape and layout of ``x``."""
    return new(x.shape, dtype or x.dtype, x.device, same_layout(x))


def same_layout(x: Tensor) -> Shape:
    """The strides that ``torch.preserve_format`` gives a copy of ``x``."""
    return elementwise_strides(x.shape, [x.layout_key])


def _copied_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient is copied back."""
    dtype, device = node.context
    gradient = gradients[0]
    if gradient is None or (gradient.dtype == dtype and gradient.device == device):
        return (gradient,)
    return (new(gradient.shape, dtype, device, same_layout(gradient)),)
