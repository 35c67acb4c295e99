"""Elements written or added at indices: what is overwritten gets no gradient, and some operations keep what they took the elements from.

What each keeps for backward: ``tools/autograd/derivatives.yaml`` of PyTorch 2.14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from estimator.tape.copying import same_layout
from estimator.tape.graph import Node, record, tracked
from estimator.tape.inplace import overwritten
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new


class _Kind(NamedTuple):
    """One operation: whether elements are added to those there, and whether backward asks for the shape of the whole source."""

    adds: bool
    keeps_source: bool


_KINDS = {
    "scatter": _Kind(adds=False, keeps_source=False),
    "scatter_add": _Kind(adds=True, keeps_source=False),
    "index_add": _Kind(adds=True, keeps_source=True),
    "index_copy": _Kind(adds=False, keeps_source=True),
    "index_fill": _Kind(adds=False, keeps_source=False),
}


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient as it is, or with zeros where elements were overwritten; and what of it belongs to the source."""
    gradient, (target, source) = gradients[0], node.edges
    if gradient is None:
        return (None, None)
    own = gradient if node.context else new(gradient.shape, gradient.dtype, gradient.device)
    return (own if target is not None else None, new(source.shape, gradient.dtype, gradient.device) if source is not None else None)


def _recorded(x: Tensor, source: Any, indices: Sequence[Any], kind: _Kind) -> Node | None:
    taken = source if isinstance(source, Tensor) else None
    kept = [index for index in indices if isinstance(index, Tensor)]
    if kind.keeps_source and taken is not None and taken.requires_grad:
        kept.append(taken)
    return record((x, taken), _back, tuple(kept), kind.adds)


def _copied(x: Tensor, node: Node | None) -> Tensor:
    result = new(x.shape, x.dtype, x.device, same_layout(x))
    tracked(node, result)
    return result


def _along(kind: _Kind) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """An operation along one dimension, and its form in place."""

    def apart(x: Tensor, dim: Any, index: Any, src: Any = None, source: Any = None, **_: Any) -> Tensor:
        return _copied(x, _recorded(x, src if source is None else source, (index,), kind))

    def inplace(x: Tensor, dim: Any, index: Any, src: Any = None, source: Any = None, **_: Any) -> Tensor:
        return overwritten(x, _recorded(x, src if source is None else source, (index,), kind))

    return apart, inplace


for _name, _kind in _KINDS.items():
    _apart, _inplace = _along(_kind)
    operation(_name, f".{_name}")(_apart)
    operation(f".{_name}_")(_inplace)


@operation("index_put", ".index_put")
def index_put(x: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """A copy of ``x`` with ``values`` at the indices."""
    return _copied(x, _recorded(x, values, indices, _Kind(accumulate, keeps_source=False)))


@operation("index_put_", ".index_put_")
def index_put_(x: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """``x`` with ``values`` at the indices."""
    return overwritten(x, _recorded(x, values, indices, _Kind(accumulate, keeps_source=False)))


@operation("scatter_reduce", ".scatter_reduce")
def scatter_reduce(x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str = "sum", **_: Any) -> Tensor:
    """Elements of ``src`` summed, or otherwise reduced, where the indices put them; keeps all three and the result."""
    node = record((x, src), _back, (x, index, src), context=True)
    result = _copied(x, node)
    if node is not None:
        node.keep(result)
    return result
