"""Convolutions: input and weight are kept; the layout follows channels-last if either has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from estimator.tape.agreement import must_agree
from estimator.tape.copying import same_layout
from estimator.tape.graph import Node, record, tracked
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.shape import Shape, channels_last_strides
from estimator.tape.tensor import Tensor, new


def each(value: Any, dims: int) -> Shape:
    """One number a spatial dimension."""
    return (value,) * dims if isinstance(value, int) else tuple(value) * (dims // len(value))


def _batched(x: Tensor, dims: int, channels: int) -> Tensor:
    """``x`` with a batch dimension. Raises ``NotFollowed`` where it has not the dimensions or the channels that the weight is for."""
    wide = x if x.ndim == dims + 2 else x.unsqueeze(0) if x.ndim == dims + 1 else None
    if wide is None or wide.shape[1] != channels:
        raise NotFollowed(f"a convolution for {channels} channels of a tensor of shape {tuple(x.shape)}")
    return wide


def _convolved(x: Tensor, weight: Tensor, bias: Tensor | None, shape: Shape) -> Tensor:
    if x.dtype != weight.dtype:
        raise NotFollowed(f"a convolution of {x.dtype} and {weight.dtype}")
    node = record((x, weight, bias), _back, (x, weight))
    last = x.channels_last or weight.channels_last
    result = new(shape, x.dtype, x.device, channels_last_strides(shape) if last else None)
    tracked(node, result)
    return result


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, kept = gradients[0], node.unpack()
    if gradient is None:
        return (None, None, None)
    results: list[Tensor | None] = []
    for edge, tensor in zip(node.edges, (*kept, None), strict=True):
        if edge is None:
            results.append(None)
            continue
        strides = same_layout(tensor) if tensor is not None else None
        results.append(new(edge.shape, gradient.dtype, gradient.device, strides))
    return results


def _conv(dims: int) -> Callable[..., Tensor]:
    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        x = _batched(input, dims, weight.shape[1] * groups)
        spatial = []
        for i in range(dims):
            reach = each(dilation, dims)[i] * (weight.shape[2 + i] - 1)
            if padding == "same":
                spatial.append(x.shape[2 + i])
                continue
            border = 0 if padding == "valid" else each(padding, dims)[i]
            spatial.append((x.shape[2 + i] + 2 * border - reach - 1) // each(stride, dims)[i] + 1)
        result = _convolved(x, weight, bias, (x.shape[0], weight.shape[0], *spatial))
        return result if x is input else result.squeeze(0)

    conv.__name__ = f"conv{dims}d"
    return conv


def _transposed(dims: int) -> Callable[..., Tensor]:
    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        steps, borders, more, holes = (each(value, dims) for value in (stride, padding, output_padding, dilation))
        spatial = [(input.shape[2 + i] - 1) * steps[i] - 2 * borders[i] + holes[i] * (weight.shape[2 + i] - 1) + more[i] + 1 for i in range(dims)]
        must_agree(input.shape[1] == weight.shape[0], f"conv_transpose{dims}d", input, weight)
        return _convolved(input, weight, bias, (input.shape[0], weight.shape[1] * groups, *spatial))

    conv_transpose.__name__ = f"conv_transpose{dims}d"
    return conv_transpose


for _dims in (1, 2, 3):
    operation(f"conv{_dims}d", f"F.conv{_dims}d")(_conv(_dims))
    operation(f"conv_transpose{_dims}d", f"F.conv_transpose{_dims}d")(_transposed(_dims))
