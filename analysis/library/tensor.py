"""Tensors as the trace sees them: no shapes or numbers, but where they came from and what their autograd graph reaches.

A tensor never changes. An operation makes a new one that knows its inputs, so that a rule can walk back from a loss to
the softmax that was applied to it three calls earlier, whatever files lie between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Never, TypeAlias

from analysis.interpreter.values import Alternatives, HostValue, Instance, Stamp, Symbol, Value
from analysis.source import Span

if TYPE_CHECKING:
    from analysis.library.autograd import Autograd


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The operation that made a value: ``softmax``, ``cross_entropy``, ``detach``, ``add``, ``attribute``, ``forward`` and so on.

    ``inputs`` are its operands in order (a method's receiver first), ``options`` its keyword arguments and whatever the
    handler worked out (``dim``, ``reduction``, ``name`` of an attribute, ``module`` of a forward). ``tensors`` are those
    among the operands, found once: rules walk back over them again and again.
    """

    op: str
    inputs: tuple[Value, ...]
    options: Mapping[str, Value]
    span: Span
    tensors: tuple[Tensor, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tensors", tuple(tensors_in(self.inputs)))


@dataclass(frozen=True, slots=True)
class Mark:
    """The value went through the slot ``key`` of ``holder`` in iteration ``stamp``.

    A value that is stored in a slot and bears the mark of that slot from an earlier iteration takes in its predecessor.
    """

    holder: int  # identity of the frame, object or container, so that a mark keeps nothing alive
    key: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Stored:
    """The detail of a ``STORE``: the slot, and what becomes of the graph that the value carries.

    Writes to a local variable are events only if the value grows.

    ``outlives``: the holder was made before the running iteration, so that the value is still there in the next one.
    ``grows``: nothing is overwritten: the holder is a container that is added to, or the value takes in its predecessor,
    which was stored in iteration ``since``. ``part``: what is stored is a tuple, list or dict that holds the value.
    """

    key: Value
    outlives: bool
    grows: bool
    since: Stamp | None = None
    part: bool = False


def _undecided(tensor: Tensor, *_asked: Value) -> Never:
    raise UndecidedError(tensor)


class UndecidedError(TypeError):
    """The host asked a tensor for its truth, its number or its length."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__("what a tensor holds is not told by the source")
        self.tensor = tensor


@dataclass(slots=True, eq=False, repr=False)
class Tensor(HostValue):
    """A tensor, or an output of unknown structure whose parts are tensors.

    ``attached``: it carries an autograd graph. ``owners``: modules and leaves whose gradients its backward would fill;
    empty on an attached tensor: the graph is unknown. ``forwards``: numbers of the forward calls in that graph.
    ``marks``: slots through which it, or what it was made of, went.
    """

    autograd: Autograd
    span: Span
    stamp: Stamp
    attached: bool = False
    owners: frozenset[Owner] = frozenset()
    forwards: frozenset[int] = frozenset()
    made: Made | None = None
    marks: frozenset[Mark] = frozenset()
    rank_varying: bool = False

    __hash__ = object.__hash__  # by identity, although == makes a tensor

    def __repr__(self) -> str:
        return f"<tensor {self.made.op}>" if self.made else "<tensor>"

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.autograd.attribute(self, name)

    def was_sent(self) -> bool:
        """Whether one rank broadcast it: the sender has the same."""
        return self.made is not None and self.made.op == "broadcast" and not self.rank_varying

    @property
    def grad(self) -> Value:
        """The gradient that was accumulated."""
        return self.autograd.attribute(self, "grad")

    @grad.setter
    def grad(self, value: Value) -> None:
        self.autograd.assign(self, "grad", value)

    @property
    def requires_grad(self) -> Value:
        """Whether operations on it are recorded."""
        return self.autograd.attribute(self, "requires_grad")

    @requires_grad.setter
    def requires_grad(self, value: Value) -> None:
        self.autograd.assign(self, "requires_grad", value)

    @property
    def data(self) -> Value:
        """The same numbers without the graph."""
        return self.autograd.attribute(self, "data")

    @data.setter
    def data(self, value: Value) -> None:
        self.autograd.assign(self, "data", value)

    def __getitem__(self, key: Value) -> Value:
        return self.autograd.item(self, key)

    def __setitem__(self, key: Value, value: Value) -> None:
        self.autograd.assign_item(self, key, value)

    def __iter__(self) -> Iterator[Value]:
        yield from self.autograd.items(self)

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """A method that nobody registered, or an output that can be called."""
        return self.autograd.call(self, args, kwargs)

    def __enter__(self) -> Value:
        """What an unknown call gave may be a context manager."""
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def __len__(self) -> Never:
        raise UndecidedError(self)

    def unpack(self, count: int) -> list[Value]:
        """The values for ``count`` targets of an assignment."""
        return [self.autograd.item(self, index) for index in range(count)]

    def joined(self, other: Tensor) -> Tensor:
        """A tensor that is one or the other, as two sides of an undecided branch left it."""
        return self.autograd.joined(self, other)

    def differing(self) -> Tensor:
        """The same tensor, which ranks hold different versions of."""
        return replace(self, rank_varying=True)

    guest_types: ClassVar[tuple[str, ...]] = ("torch.Tensor", "torch.FloatTensor", "torch.nn.Parameter", "torch.autograd.Variable")
    #: What it may be besides: a tensor of which each rank holds a part.
    possible_types: ClassVar[tuple[str, ...]] = tuple(f"torch.distributed.{module}.DTensor" for module in ("tensor", "_tensor", "tensor.api", "_tensor.api"))

    # The host must never decide by accident what a tensor holds.
    __bool__ = __float__ = __int__ = __index__ = __contains__ = _undecided


class Parameter(Tensor):
    """A leaf that a module or optimizer may own: one ``nn.Parameter``, or the representative of many.

    A loop over ``model.parameters()`` is a *for all*: its body runs once, on the representative of them all.
    """

    __slots__ = ()


#: What an optimizer updates and a backward fills: a module (its trainable parameters) or a single leaf.
Owner: TypeAlias = Instance | Tensor


def parameter_behind_gradient(tensor: Value) -> Parameter | None:
    """The parameter whose gradient ``tensor`` is (``p.grad``, ``p.grad.data``)."""
    while isinstance(tensor, Tensor) and tensor.made is not None and tensor.made.op in {"grad", "data", "detach"}:
        through_gradient = tensor.made.op == "grad"
        tensor = tensor.made.inputs[0]
        if through_gradient and isinstance(tensor, Parameter):
            return tensor
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Parameters(HostValue):
    """What ``module.parameters()`` gives, and what filters, lists and chains of it give: parameters of ``owners``.

    ``named``: its items are (name, parameter) pairs. ``partial``: a filter was applied that need not keep all of them.
    """

    autograd: Autograd
    owners: tuple[Owner, ...]
    named: bool = False
    partial: bool = False

    def __iter__(self) -> Iterator[Value]:
        yield from self.autograd.parameter_items(self)

    def __next__(self) -> Value:
        """``next(model.parameters())``: asked for the device or the type of all of them."""
        return next(iter(self))


class Scalar(Symbol):
    """A number read from a tensor (``.item()``, ``float(loss)``, ``.argmax()`` on the host): it varies with the data."""

    __slots__ = ("tensor",)
    is_number: ClassVar[bool] = True

    def __init__(self, why: str, span: Span | None, stamp: Stamp, tensor: Tensor) -> None:
        super().__init__(why, span, stamp, rank_varying=tensor.rank_varying)
        self.tensor = tensor

    def was_sent(self) -> bool:
        """Whether one rank broadcast the tensor that it was read from."""
        return self.tensor.was_sent()


#: How deep containers are searched for tensors, and how many items of each.
_DEPTH, _WIDTH = 3, 64
#: Kinds that hold none, told at once.
_WITHOUT = frozenset({int, float, str, bool, type(None), Instance})


def tensors_in(value: Value, depth: int = _DEPTH) -> Iterator[Tensor]:
    """The tensors that ``value`` is or holds."""
    found: list[Tensor] = []
    _collect(value, found, depth)
    return iter(found)


def _collect(value: Value, found: list[Tensor], depth: int) -> None:
    kind = type(value)
    if kind is Tensor or kind is Parameter:
        found.append(value)
    elif not depth or kind in _WITHOUT:
        return
    elif isinstance(value, dict):
        for each in islice(value.values(), _WIDTH):
            _collect(each, found, depth - 1)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for each in islice(value, _WIDTH):
            _collect(each, found, depth - 1)
    elif kind is Alternatives:
        for each in value.values:
            _collect(each, found, depth)


def _operator(op: str) -> Callable[..., Value]:
    """A magic method that makes ``op`` of its operands."""

    def magic(*operands: Value) -> Value:
        return operands[0].autograd.made(op, operands)

    return magic


def _reflected(op: str) -> Callable[..., Value]:
    """The magic method for a tensor on the right side."""

    def magic(right: Tensor, left: Value) -> Value:
        return right.autograd.made(op, (left, right))

    return magic


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = ("neg", "pos", "abs", "invert")

for _op in (*_BINARY, *_COMPARISONS, *_UNARY):
    setattr(Tensor, f"__{_op}__", _operator(_op))
for _op in _BINARY:
    setattr(Tensor, f"__r{_op}__", _reflected(_op))
