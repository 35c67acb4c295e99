"""Other dtypes, devices and layouts of a tensor, and its ties to the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.interpreter.values import HostFunction
from estimator.tape import copying
from estimator.tape.device import CPU, Device, as_device
from estimator.tape.dtype import ALIASES, BFLOAT16, BOOL, DTYPES, Dtype, as_dtype
from estimator.tape.graph import Node, record, tracked
from estimator.tape.registry import operation
from estimator.tape.shape import channels_last_strides, contiguous_strides
from estimator.tape.tensor import Tensor


class MemoryFormat:
    """``torch.channels_last`` and its kind."""

    def __init__(self, name: str) -> None:
        self.name = name


CONTIGUOUS = MemoryFormat("contiguous_format")
PRESERVE = MemoryFormat("preserve_format")
CHANNELS_LAST = MemoryFormat("channels_last")
CHANNELS_LAST_3D = MemoryFormat("channels_last_3d")


@operation(".to")
def to(
    x: Tensor, *args: Any, dtype: Dtype | None = None, device: Any = None, copy: bool = False, memory_format: MemoryFormat | None = None, **_: Any
) -> Tensor:
    """``x`` with another dtype, device or layout: itself if nothing changes."""
    for arg in args:
        match arg:
            case Dtype():
                dtype = arg
            case Tensor():
                dtype, device = arg.dtype, arg.device
            case HostFunction():
                dtype = as_dtype(arg)
            case bool() | None:
                continue
            case _:
                device = arg
    dtype = as_dtype(dtype) or x.dtype
    target = x.device if device is None else as_device(device)
    if memory_format in {CHANNELS_LAST, CHANNELS_LAST_3D}:
        strides = channels_last_strides(x.shape)
    elif memory_format is CONTIGUOUS:
        strides = contiguous_strides(x.shape)
    else:
        strides = copying.same_layout(x) if copy or dtype != x.dtype or target != x.device else x.strides
    if not copy and dtype == x.dtype and target == x.device and strides == x.strides:
        return x
    return copying.copied(x, dtype, target, strides)


@operation(".type_as")
def type_as(x: Tensor, other: Tensor) -> Tensor:
    """``x`` in the dtype and on the device of ``other``."""
    return to(x, other)


@operation(".type")
def type_(x: Tensor, dtype: Any = None) -> Any:
    """``x`` in ``dtype``, or the name of its type."""
    if dtype is None:
        return f"torch.{'cuda.' if x.is_cuda else ''}{x.dtype.name}"
    return to(x, dtype)


@operation(".cuda")
def cuda(x: Tensor, device: Any = None, **_: Any) -> Tensor:
    """``x`` on the GPU."""
    return to(x, device=Device("cuda", 0) if device is None else device)


@operation(".cpu")
def cpu(x: Tensor, **_: Any) -> Tensor:
    """``x`` in host memory."""
    return to(x, device=CPU)


@operation(".pin_memory")
def pin_memory(x: Tensor, *_: Any) -> Tensor:
    """``x`` in pinned host memory, which is not counted."""
    return x


def _named(dtype: Dtype) -> Any:
    def convert(x: Tensor, **_: Any) -> Tensor:
        return to(x, dtype=dtype)

    return convert


for _name, _dtype in {**ALIASES, "bfloat16": BFLOAT16, "bool": BOOL, "char": DTYPES[2], "byte": DTYPES[1]}.items():
    operation(f".{_name}")(_named(_dtype))


@operation("clone", ".clone")
def clone(x: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy."""
    match memory_format:
        case None:
            return copying.copied(x)
        case MemoryFormat(name="contiguous_format"):
            return copying.copied(x, strides=contiguous_strides(x.shape))
        case _:
            return to(x, copy=True, memory_format=memory_format)


@operation(".contiguous")
def contiguous(x: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """``x`` row-major (or in ``memory_format``): itself if it is already."""
    return copying.contiguous(x) if memory_format in {None, CONTIGUOUS} else to(x, memory_format=memory_format)


@operation(".is_contiguous")
def is_contiguous(x: Tensor, *, memory_format: MemoryFormat | None = None) -> bool:
    """Whether it lies row-major (or in ``memory_format``)."""
    return x.contiguous_layout if memory_format in {None, CONTIGUOUS} else x.channels_last


@operation("detach", ".detach")
def detach(x: Tensor) -> Tensor:
    """The same memory without a graph."""
    return x.alias()


@operation(".detach_")
def detach_(x: Tensor) -> Tensor:
    """Cut it off its graph."""
    x.grad_fn, x.requires_grad = None, False
    return x


@operation(".requires_grad_")
def requires_grad_(x: Tensor, requires_grad: bool = True) -> Tensor:
    """Want a gradient for it, or not."""
    x.requires_grad = requires_grad
    return x


@operation(".view_as_real", "view_as_real")
def view_as_real(x: Tensor) -> Tensor:
    """Pairs of real numbers over the memory of complex ones."""
    return _reinterpreted(x, DTYPES[10] if x.dtype.itemsize == 8 else DTYPES[11], (*x.shape, 2))  # noqa: PLR2004


@operation("view_as_complex")
def view_as_complex(x: Tensor) -> Tensor:
    """Complex numbers over the memory of pairs of real ones."""
    return _reinterpreted(x, DTYPES[12] if x.dtype.itemsize == 4 else DTYPES[13], x.shape[:-1])  # noqa: PLR2004


def _reinterpreted(x: Tensor, dtype: Dtype, shape: tuple[int, ...]) -> Tensor:
    node = record((x,), _reinterpreted_back, context=(x.dtype, x.shape))
    result = x.view_of_storage(shape, contiguous_strides(shape))
    result.dtype = dtype
    tracked(node, result)
    return result


def _reinterpreted_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    gradient = gradients[0]
    if gradient is None:
        return (None,)
    dtype, shape = node.context
    view = gradient.view_of_storage(shape, contiguous_strides(shape))
    view.dtype = dtype
    return (view,)
