"""Normalisation: each keeps its input, its weight and fp32 statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.agreement import must_agree
from estimator.tape.copying import contiguous, like
from estimator.tape.dtype import FLOAT32, HALVES, Dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.pointwise import div
from estimator.tape.registry import operation
from estimator.tape.shape import contiguous_strides
from estimator.tape.tensor import Tensor, new


def _statistics_dtype(x: Tensor) -> Dtype:
    return FLOAT32 if x.dtype in HALVES else x.dtype


def _normalised(x: Tensor, weight: Tensor | None, bias: Tensor | None, statistics: tuple[int, ...], count: int, *, row_major: bool = False) -> Tensor:
    """``row_major``: the kernel reads a copy of an input that lies otherwise, and drops it; backward keeps the input as it lies."""
    node = record((x, weight, bias), _back, (x, weight), context=row_major)
    result = like(_rows(x, row_major=row_major))
    kept = [new(statistics, _statistics_dtype(x), x.device) for _ in range(count)]
    if node is not None:
        node.keep(*kept)
    tracked(node, result)
    return result


def _rows(x: Tensor, *, row_major: bool) -> Tensor:
    """What the kernel reads: ``x``, or its copy in rows."""
    return x if not row_major or x.contiguous_layout else new(x.shape, x.dtype, x.device, contiguous_strides(x.shape))


def _fits(x: Tensor, weight: Tensor | None) -> bool:
    """Whether there is one weight for each channel."""
    return weight is None or x.shape[1:2] == weight.shape


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, (x, *_) = gradients[0], node.unpack()
    if gradient is None or x is None:
        return (None, None, None)
    rows = _rows(x, row_major=bool(node.context))
    results: list[Tensor | None] = [like(rows) if node.needs(0) else None]
    results += [new(edge.shape, edge.dtype, x.device) if edge is not None else None for edge in node.edges[1:]]
    return results


@operation("layer_norm", "F.layer_norm")
def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5, **_: Any) -> Tensor:
    """Mean and deviation over the last dimensions; computed row-major."""
    dims = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    must_agree(weight is None or input.shape[-dims:] == weight.shape, "layer_norm", input, weight)
    return _normalised(input, weight, bias, (*input.shape[:-dims], *(1,) * dims), 2, row_major=True)


@operation("rms_norm", "F.rms_norm")
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The root of the mean square over the last dimensions."""
    dims = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    must_agree(weight is None or input.shape[-dims:] == weight.shape, "rms_norm", input, weight)
    return _normalised(input, weight, None, (*input.shape[:-dims], *(1,) * dims), 1, row_major=True)


@operation("group_norm", "F.group_norm")
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5, **_: Any) -> Tensor:
    """Mean and deviation over groups of channels."""
    must_agree(input.shape[1] % num_groups == 0 and _fits(input, weight), "group_norm", input, weight)
    return _normalised(input if input.channels_last else contiguous(input), weight, bias, (input.shape[0], num_groups), 2)


@operation("F.instance_norm", "instance_norm")
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *_: Any,
    **__: Any,
) -> Tensor:
    """Mean and deviation of each channel of each sample."""
    must_agree(_fits(input, weight), "instance_norm", input, weight)
    return _normalised(contiguous(input), weight, bias, (input.shape[0] * input.shape[1],), 2)


@operation("batch_norm", "F.batch_norm")
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    *_: Any,
    **__: Any,
) -> Tensor:
    """Mean and deviation of each channel over the batch; without training it keeps no statistics of its own."""
    must_agree(_fits(input, weight), "batch_norm", input, weight)
    return _normalised(input, weight, bias, (input.shape[1] if training else 0,), 2)


@operation("F.normalize")
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, **_: Any) -> Tensor:
    """``x / max(norm(x), eps)``: ordinary operations."""
    length = input.norm(p, dim=dim, keepdim=True).clamp_min(eps).expand_as(input)
    return div(input, length)


@operation("F.local_response_norm")
def local_response_norm(input: Tensor, *_: Any, **__: Any) -> Tensor:
    """Across neighbouring channels; keeps its input and a divisor of the same size."""
    return div(input, like(input))
