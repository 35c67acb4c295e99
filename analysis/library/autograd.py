"""The autograd engine as the trace sees it: what an operation's result carries, given its inputs and the grad mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.interpreter.values import Alternatives, Call, HostFunction, Instance, Method, Property, Symbol, Value
from analysis.library.ownership import ONE_BY_ONE
from analysis.library.recording import SOMEWHERE, emit, modes
from analysis.library.tensor import Made, Mark, Owner, Parameter, Parameters, Scalar, Tensor, parameter_behind_gradient, tensors_in
from analysis.source import Span
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine
    from analysis.library.knowledge import Library
    from analysis.library.ownership import Ownership

_CUTTING = """
detach data numpy argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite isclose allclose equal logical_and logical_or logical_not logical_xor
long int short byte bool nonzero bincount searchsorted bucketize one_hot empty_like zeros_like ones_like rand_like randn_like full_like new_zeros
new_ones new_empty new_full new_tensor multinomial bernoulli randint_like unique any all invert and or xor grad floordiv count_nonzero item zeros ones
rand randn empty full arange linspace tensor as_tensor from_numpy eye randint randperm normal gradients
"""
#: Operations whose result has no gradient: they cut, compare, count, or make something new in the shape of their input.
CUTTING = frozenset(_CUTTING.split())


#: Operations through which a gradient is still the gradient.
_THROUGH = frozenset({"grad", "data", "detach"})


#: Operations that give the same numbers, elsewhere or in another type.
_MOVES = frozenset({"to", "cuda", "cpu", "float", "half", "bfloat16", "clone", "detach", "data", "contiguous"})


#: Operations on one tensor that give values and, second, where these stood: indices have no gradient.
_RANKING = frozenset({"topk", "sort", "max", "min", "median", "nanmedian", "mode", "kthvalue", "cummax", "cummin"})
#: Of a parameter that stands for those of some part of its owner: which part is not told.
_PARTIAL = "of a part"


def _are_indices(ranked: Tensor, part: Value) -> bool:
    """Whether ``part`` of it is where the values stood."""
    made = ranked.made
    return made is not None and made.op in _RANKING and len(made.tensors) == 1 and isinstance(part, (int, str)) and part in {1, "indices"}


def _is_moved_gradient(value: Value) -> bool:
    """Whether it is a parameter's own gradient, moved: that it is put back changes nothing."""
    while isinstance(value, Tensor) and value.made is not None and value.made.op in _MOVES and value.made.inputs:
        value = value.made.inputs[0]
    return isinstance(value, Tensor) and parameter_behind_gradient(value) is not None


class Autograd:
    """Makes the tensors of one run."""

    def __init__(self, machine: Machine, library: Library, ownership: Ownership) -> None:
        self.machine = machine
        self.library = library
        self.ownership = ownership
        #: Tensors that the guest asked gradients for (``requires_grad_()``): results made of them carry a graph.
        self.leaves: set[Tensor] = set()
        self._forwards = 0
        self._representatives: dict[tuple[int, bool], tuple[Owner, Parameter]] = {}

    @property
    def _here(self) -> Span:
        span = self.machine.span
        if span is None:
            raise ValueError("a tensor was made outside any code")
        return span

    def next_forward(self) -> int:
        """A number for the forward call that begins."""
        self._forwards += 1
        return self._forwards

    def made(self, op: str, inputs: tuple[Value, ...], options: Mapping[str, Value] | None = None, *, cut: bool = False) -> Tensor:
        """The result of ``op``. It carries a graph if grad mode is on, an input does, and the operation does not cut."""
        made = Made(op, inputs, options or {}, self._here)
        found = [*made.tensors, *tensors_in(options)] if options else made.tensors
        if op not in _THROUGH:
            self._used_gradients(found, op)
        if op == "eq" and len(found) > 1:
            emit(self.machine, Kind.MEASURE, value=tuple(found))
        varying, flowing = False, []
        for tensor in found:
            varying = varying or tensor.rank_varying
            if self.carries(tensor):
                flowing.append(tensor)
        if not flowing or cut or op in CUTTING or not modes(self.machine).grad:
            return Tensor(self, made.span, self.machine.stamp, made=made, rank_varying=varying)
        first = flowing[0]
        owners, forwards, marks = self.owners_of(first), first.forwards, first.marks
        for tensor in flowing[1:]:
            owners |= self.owners_of(tensor)
            forwards |= tensor.forwards
            marks |= tensor.marks
        held = modes(self.machine)
        if held.forwarding is not None:
            forwards |= {held.forward}
        return Tensor(self, made.span, self.machine.stamp, True, owners, forwards, made, marks, varying)  # noqa: FBT003  ``attached``, in its place

    def _used_gradients(self, tensors: Iterable[Tensor], op: str) -> None:
        """Gradients that are read or scaled by hand are events: whoever does so may mean something else than a plain step."""
        for tensor in tensors:
            if tensor.made is not None and tensor.made.op in _THROUGH and (parameter := parameter_behind_gradient(tensor)) is not None:
                for owner in parameter.owners:
                    emit(self.machine, Kind.GRADIENT_USE, subject=owner, value=tensor, detail=op)

    def carries(self, tensor: Tensor) -> bool:
        """Whether operations on ``tensor`` are recorded for backward."""
        return (tensor.attached and self.ownership.frozen.get(tensor) is not True) or (bool(self.leaves) and tensor in self.leaves)

    def owners_of(self, tensor: Tensor) -> frozenset[Owner]:
        """What a backward through ``tensor`` would fill; a leaf is its own owner."""
        return tensor.owners | {tensor} if self.leaves and tensor in self.leaves else tensor.owners

    def plain(self, op: str, *inputs: Value) -> Tensor:
        """A tensor without a graph: data, or an output that gradients do not reach."""
        return self.made(op, inputs, cut=True)

    def marked(self, tensor: Tensor, mark: Mark) -> Tensor:
        """The same tensor after it went through a slot."""
        others = frozenset(each for each in tensor.marks if (each.holder, each.key) != (mark.holder, mark.key))
        return replace(tensor, marks=others | {mark})

    def scalar(self, tensor: Tensor, why: str) -> Scalar:
        """A number that the host reads from ``tensor``: the device has to finish first."""
        emit(self.machine, Kind.ITEM, value=tensor)
        return Scalar(why, self._here, self.machine.stamp, tensor)

    def attribute(self, tensor: Tensor, name: str) -> Value:
        """``tensor.name``: a method, or a part of an output of unknown structure."""
        known = self.library.lookup(f"torch.Tensor.{name}")
        match known:
            case HostFunction():
                return Method(known, tensor)
            case Property(getter=HostFunction(run=run)):
                return run(Call(self.machine, [tensor], {}, self._here))
        return self.made("attribute", (tensor,), {"name": name}, cut=_are_indices(tensor, name))

    def call(self, tensor: Tensor, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
        """``tensor(...)``: an attribute that turns out to be a method, or a callable output (a distribution, say)."""
        made = tensor.made
        if made is not None and made.op == "attribute":
            return self.made(made.options["name"], (*made.inputs, *args), kwargs)
        return self.made("call", (tensor, *args), kwargs)

    def item(self, tensor: Tensor, key: Value) -> Value:
        """``tensor[key]``; of ``order[rank::ranks]`` each rank has another part."""
        made = self.made("getitem", (tensor,), {"key": key}, cut=_are_indices(tensor, key))
        bounds = (key.start, key.stop, key.step) if isinstance(key, slice) else ()
        made.rank_varying = made.rank_varying or any(getattr(bound, "rank_varying", False) is True for bound in bounds)
        return made

    def assign(self, tensor: Tensor, name: str, value: Value) -> None:
        """``tensor.name = value``: gradients cleared by hand, leaves switched on and off."""
        if name == "grad" and value is None:
            for owner in tensor.owners or (Symbol("a parameter", self._here),):  # without an owner any may be meant
                emit(self.machine, Kind.ZERO_GRAD, subject=owner, value=tensor, detail="grad = None")
        elif name == "grad" and not _is_moved_gradient(value):
            emit(self.machine, Kind.OPAQUE, subject=tuple(tensor.owners), detail="grad = …")
        elif name == "requires_grad":
            self.require(tensor, value)

    def assign_item(self, tensor: Tensor, key: Value, value: Value) -> None:
        """``tensor[key] = value``: in place, so that the tensor takes over the graph of what is written into it."""
        if not isinstance(tensor, Parameter):
            merged = self.made("setitem", (replace(tensor), value), {"key": key})
            tensor.attached, tensor.owners, tensor.forwards = merged.attached, merged.owners, merged.forwards
            tensor.made, tensor.rank_varying = merged.made, merged.rank_varying
            if _is_own_part(tensor, key, value):
                tensor.forwards = frozenset()  # what else an output of unknown structure holds, and whether with a graph, is not known

    def require(self, tensor: Tensor, flag: Value) -> None:
        """``tensor.requires_grad_(flag)``."""
        if isinstance(tensor, Parameter):
            partial = tensor.made is not None and _PARTIAL in tensor.made.options
            for owner in tensor.owners:
                self.ownership.freeze(owner, Alternatives((True, False)) if partial else flag is False)
                if isinstance(owner, Instance):
                    self.machine.heap.write(owner.fields, ONE_BY_ONE, self.machine.span)
        elif flag is False:
            self.leaves.discard(tensor)
        elif not tensor.attached:
            self.leaves.add(tensor)

    def joined(self, left: Tensor, right: Tensor) -> Tensor:
        """Either of the two."""
        merged = self.made("join", (left, right))
        attached = left.attached or right.attached
        return replace(
            merged,
            attached=attached,
            owners=left.owners | right.owners,
            forwards=left.forwards | right.forwards,
            marks=left.marks | right.marks,
        )

    def items(self, tensor: Tensor) -> Iterator[Value]:
        """Iterating over a tensor of unknown length: two items."""
        for index in range(2):
            yield self.item(tensor, index)

    def parameter_items(self, parameters: Parameters) -> Iterator[Value]:
        """One representative for all parameters of each owner; one of nobody's, which may be any, where no owner is known."""
        for owner in parameters.owners or (None,):
            item = self.representative(owner, partial=parameters.partial)
            yield (Symbol("the name of a parameter", self._here, self.machine.stamp or SOMEWHERE), item) if parameters.named else item

    def representative(self, owner: Owner | None, *, partial: bool = False) -> Parameter:
        """The parameter that stands for all of ``owner``'s, or for those of some part of it."""
        if isinstance(owner, Parameter):
            return owner
        if owner is None:
            return replace(self.parameter(None, partial=partial), owners=frozenset())
        known = self._representatives.get((id(owner), partial))
        if known is None:
            known = owner, self.parameter(owner, partial=partial)
            self._representatives[id(owner), partial] = known
        return known[1]

    def parameter(self, owner: Owner | None, *, partial: bool = False) -> Parameter:
        """A parameter of ``owner`` (None: it is its own owner)."""
        made = Made("parameter", (), {_PARTIAL: True} if partial else {}, self._here)
        parameter = Parameter(self, made.span, (), True, frozenset(), made=made)  # noqa: FBT003  ``attached``, in its place
        parameter.owners = frozenset([parameter if owner is None else owner])
        return parameter


def _is_own_part(tensor: Tensor, key: Value, value: Value) -> bool:
    """Whether ``value`` is the part ``key`` of an output of unknown structure, cut off its graph."""
    made = value.made if isinstance(value, Tensor) else None
    part = next(iter(made.tensors), None) if made is not None and made.op in {"detach", "data"} else None
    if not isinstance(key, str) or part is None or part.made is None or part.forwards != tensor.forwards:
        return False
    return part.made.op == "getitem" and part.made.options.get("key") == key
