"""Pooling and resizing: maxima keep the input and int64 indices, averages the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any

from estimator.tape.copying import like
from estimator.tape.dtype import INT64
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.convolution import each
from estimator.tape.operations.reductions import mean
from estimator.tape.registry import operation
from estimator.tape.shape import Shape, channels_last_strides
from estimator.tape.tensor import Tensor, new


def _pooled(x: Tensor, shape: Shape, *, indices: bool, keep_input: bool = True) -> tuple[Tensor, Tensor | None]:
    node = record((x,), _back, (x,) if keep_input else ())
    strides = channels_last_strides(shape) if x.channels_last else None
    result = new(shape, x.dtype, x.device, strides)
    places = new(shape, INT64, x.device, strides) if indices else None
    if node is not None:
        node.keep(places)
    tracked(node, result)
    return result, places


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient, edge, kept = gradients[0], node.edges[0], node.unpack()
    if gradient is None or edge is None:
        return (None,)
    source = kept[0]
    if source is not None and source.shape == edge.shape:
        return (like(source, gradient.dtype),)
    return (new(edge.shape, gradient.dtype, gradient.device),)


def _window_shape(x: Tensor, dims: int, kernel: Any, stride: Any, padding: Any, dilation: Any, *, ceil_mode: bool) -> Shape:
    sizes, borders, holes = each(kernel, dims), each(padding, dims), each(dilation, dims)
    steps = sizes if stride is None or stride == [] else each(stride, dims)
    result = []
    for i in range(dims):
        have = x.shape[i - dims]
        count = (have + 2 * borders[i] - holes[i] * (sizes[i] - 1) - 1) / steps[i] + 1
        whole = ceil(count) if ceil_mode else floor(count)
        if ceil_mode and (whole - 1) * steps[i] >= have + borders[i]:
            whole -= 1  # a window must begin inside the input
        result.append(whole)
    return (*x.shape[:-dims], *result)


def _max_pool(dims: int) -> Callable[..., Any]:
    def max_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        shape = _window_shape(input, dims, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
        result, places = _pooled(input, shape, indices=True)
        return (result, places) if return_indices else result

    return max_pool


def _avg_pool(dims: int) -> Callable[..., Tensor]:
    def avg_pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        *_: Any,
        **__: Any,
    ) -> Tensor:
        return _pooled(input, _window_shape(input, dims, kernel_size, stride, padding, 1, ceil_mode=ceil_mode), indices=False)[0]

    return avg_pool


def _adaptive(dims: int, *, largest: bool) -> Callable[..., Any]:
    def adaptive_pool(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        wanted = each(output_size, dims) if output_size is not None else (None,) * dims
        sizes = tuple(have if want is None else want for have, want in zip(input.shape[-dims:], wanted, strict=True))
        if not largest and all(size == 1 for size in sizes):
            return mean(input, tuple(range(-dims, 0)), keepdim=True)  # PyTorch takes the mean as well
        result, places = _pooled(input, (*input.shape[:-dims], *sizes), indices=largest)
        return (result, places) if return_indices else result

    return adaptive_pool


for _dims in (1, 2, 3):
    operation(f"max_pool{_dims}d", f"F.max_pool{_dims}d")(_max_pool(_dims))
    operation(f"avg_pool{_dims}d", f"F.avg_pool{_dims}d")(_avg_pool(_dims))
    operation(f"adaptive_avg_pool{_dims}d", f"F.adaptive_avg_pool{_dims}d")(_adaptive(_dims, largest=False))
    operation(f"adaptive_max_pool{_dims}d", f"F.adaptive_max_pool{_dims}d")(_adaptive(_dims, largest=True))


@operation("F.interpolate", "F.upsample")
def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", *_: Any, **__: Any) -> Tensor:
    """Another spatial size; keeps nothing."""
    dims = input.ndim - 2
    if size is None:
        factors = (scale_factor,) * dims if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
        sizes = tuple(floor(have * factor) for have, factor in zip(input.shape[2:], factors, strict=True))
    else:
        sizes = each(size, dims)
    return _pooled(input, (*input.shape[:2], *sizes), indices=False, keep_input=False)[0]


@operation("F.pixel_shuffle", "pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels moved into space: a permuted copy."""
    batch, channels, height, width = input.shape
    r = upscale_factor
    spread: Tensor = input.view(batch, channels // r**2, r, r, height, width).permute(0, 1, 4, 2, 5, 3)
    return spread.reshape(batch, channels // r**2, height * r, width * r)  # type: ignore[no-any-return]
