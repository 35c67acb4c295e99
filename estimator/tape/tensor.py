"""Tensors: a shape, strides and a dtype over a storage, and a place in the autograd graph.

Operations live in ``operations/``, one file a family; those that are methods or operators in PyTorch are
attached to this class when they are registered, so Python's own operators on it are the guest's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from weakref import ReferenceType

from analysis.interpreter.values import HostValue
from estimator.tape.device import Device
from estimator.tape.dtype import Dtype
from estimator.tape.events import Kind
from estimator.tape.not_followed import NotFollowed
from estimator.tape.run import current
from estimator.tape.shape import Shape, Size, contiguous_strides, is_channels_last, is_contiguous, is_dense
from estimator.tape.storage import Storage

if TYPE_CHECKING:
    from estimator.tape.graph import Accumulation, Node


class Tensor(HostValue):
    """``torch.Tensor``. ``values`` holds the numbers, row-major, of small host tensors made from known ones; None otherwise."""

    is_xpu = is_mps = is_sparse = is_sparse_csr = is_quantized = is_nested = False

    def __init__(self, storage: Any = None, shape: Any = (), strides: Any = (), dtype: Any = None, *rest: Any) -> None:
        """Over a storage; a program's own ``torch.Tensor(…)`` gives sizes, or nested lists of numbers."""
        offset = rest[0] if rest else 0
        if not isinstance(storage, Storage):
            shape = _shape_given([value for value in (storage, shape, strides, dtype, *rest) if value is not None and value != ()])
            dtype, strides, offset = current().default_dtype, contiguous_strides(shape), 0
            storage = Storage(current(), Size(shape).numel() * dtype.itemsize, current().default_device)
        storage.aliases += 1
        self.storage: Storage = storage
        self.shape = Size(shape)
        self.strides: Shape = strides
        self.dtype: Dtype = dtype
        self.offset: int = offset
        self.requires_grad: bool = False
        self.grad: Tensor | None = None
        self.grad_fn: Node | None = None
        self.output_index = 0
        self.claims = 0  # how many places of the backward pass hold this very tensor
        self.base: Tensor | None = None
        self.values: tuple[Any, ...] | None = None
        self.picks_few = False  # a mask of the elements that equal one number
        self.accumulation: ReferenceType[Accumulation] | None = None
        self.hooks: list[Any] | None = None  # run when its gradient is complete

    if TYPE_CHECKING:
        # Attached by the registry of operations.
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...

    def __del__(self) -> None:
        storage = self.__dict__.get("storage")
        if storage is not None:  # one that could not be made has none
            storage.aliases -= 1

    @property
    def device(self) -> Device:
        """Where its memory is."""
        return self.storage.device

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def is_cuda(self) -> bool:
        """Whether it is on the GPU."""
        return self.device.counted

    @property
    def is_meta(self) -> bool:
        """Whether it has no memory at all."""
        return self.device.type == "meta"

    @property
    def is_cpu(self) -> bool:
        """Whether it is in host memory."""
        return self.device.type == "cpu"

    @property
    def is_leaf(self) -> bool:
        """Whether it was not computed by a recorded operation."""
        return self.grad_fn is None

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.shape.numel() * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def data(self) -> Tensor:
        """The same memory without a graph."""
        return self.alias()

    @data.setter
    def data(self, value: Tensor) -> None:
        value.storage.aliases += 1
        self.storage.aliases -= 1
        self.storage, self.shape, self.strides, self.offset = value.storage, value.shape, value.strides, value.offset
        self.dtype, self.values = value.dtype, value.values

    @property
    def contiguous_layout(self) -> bool:
        """Whether the elements lie row-major."""
        return is_contiguous(self.shape, self.strides)

    @property
    def channels_last(self) -> bool:
        """Whether the elements lie channels-last."""
        return is_channels_last(self.shape, self.strides)

    @property
    def layout_key(self) -> tuple[Shape, Shape]:
        """Shape and strides, as the layout functions take them."""
        return self.shape, self.strides

    def alias(self) -> Tensor:
        """Another tensor over the same memory, without a graph."""
        other = Tensor(self.storage, self.shape, self.strides, self.dtype, self.offset)
        other.values = self.values
        return other

    def view_of_storage(self, shape: Shape, strides: Shape, offset: int | None = None) -> Tensor:
        """A tensor over the same memory with another shape, without a graph."""
        view = Tensor(self.storage, shape, strides, self.dtype, self.offset if offset is None else offset)
        view.base = self.base if self.base is not None else self
        view.picks_few = self.picks_few
        return view

    def became(self, kind: Kind) -> Self:
        """Say what this tensor's memory turned out to hold."""
        self.storage.became(kind)
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A copy in memory of its own, of the same class."""
        if id(self) not in memo:
            made = new(self.shape, self.dtype, self.device, self.strides if is_dense(self.shape, self.strides) else None)
            made.values = self.values
            made.requires_grad = self.requires_grad
            memo[id(self)] = Parameter(made, self.requires_grad) if isinstance(self, Parameter) else made
        copied: Tensor = memo[id(self)]
        return copied

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.values is not None and len(self.values) == 1:
            return bool(self.values[0])
        raise NotFollowed("a condition on a tensor's values")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"tensor({tuple(self.shape)}, {self.dtype}, {self.device})"


class Parameter(Tensor):
    """``torch.nn.Parameter``: a tensor that modules list and optimizers update. ``stands_for``: the shape of the weight that it holds packed."""

    stands_for: Shape | None = None

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:  # noqa: FBT001, FBT002  PyTorch's signature
        if data is None:
            data = new((0,), current().default_dtype, current().default_device)
        super().__init__(data.storage, data.shape, data.strides, data.dtype, data.offset)
        self.values = data.values
        self.requires_grad = requires_grad
        self.became(Kind.PARAMETERS)

    @property
    def data(self) -> Tensor:
        """The same memory without a graph."""
        return self.alias()

    @data.setter
    def data(self, value: Tensor) -> None:
        Tensor.data.fset(self, value)  # type: ignore[attr-defined]
        self.became(Kind.PARAMETERS)


class Buffer(Tensor):
    """``torch.nn.Buffer``: a tensor that a module keeps beside its parameters."""

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        if data is None:
            data = new((0,), current().default_dtype, current().default_device)
        super().__init__(data.storage, data.shape, data.strides, data.dtype, data.offset)
        self.values = data.values
        self.persistent = persistent
        self.became(Kind.BUFFERS)


def _shape_given(given: list[Any]) -> Shape:
    """The shape that the arguments of ``torch.Tensor`` say: sizes, or that of nested lists. Raises NotFollowed for anything else."""
    if all(type(size) is int for size in given):
        return tuple(given) or (0,)
    shape: list[int] = []
    data = given[0]
    while isinstance(data, (list, tuple)):
        shape.append(len(data))
        data = data[0] if data else None
    if len(given) > 1 or not shape:
        raise NotFollowed(f"torch.Tensor of a {type(given[0]).__name__}")
    return tuple(shape)


def new(shape: Shape, dtype: Dtype, device: Device, strides: Shape | None = None) -> Tensor:
    """A new tensor in memory of its own; row-major unless ``strides`` (dense ones) say otherwise."""
    size = Size(shape).numel() * dtype.itemsize
    return Tensor(Storage(current(), size, device), shape, contiguous_strides(shape) if strides is None else strides, dtype)
