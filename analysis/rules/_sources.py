"""From a loss back to what it was made of. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.interpreter.values import Value
from analysis.library.losses import LOSSES
from analysis.library.opaque import UNFOLLOWED
from analysis.library.ownership import is_module
from analysis.library.parts import WITHOUT_GRAD
from analysis.library.tensor import Made, Parameter, Scalar, Tensor, tensors_in

_MOST = 2_000
#: Operations that give a tensor without a graph on purpose, or because they have no derivative.
CUTS = frozenset({"detach", "data", "numpy", "argmax", "argmin", "item", "host", "gt", "ge", "lt", "le", "eq", "ne"})
#: Draws from a distribution that carry no graph.
DRAWS = frozenset({"sample", "sample_n", "multinomial"})
_SHAPES = "view reshape flatten squeeze unsqueeze permute transpose contiguous expand to float double half bfloat16 getitem t clone cuda cpu type"
_ARITHMETIC = """
add sub mul truediv div neg pow abs square sqrt exp log mean sum max min norm clamp stack cat softmax log_softmax sigmoid logsigmoid tanh relu
softplus matmul scale tensor one_hot interpolate upsample pad elu gelu silu leaky_relu logsumexp maximum minimum where masked_fill mm bmm einsum cumsum
prod gather index_select avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d cosine_similarity pairwise_distance
"""
#: Operations whose result is known to depend on nothing but their inputs.
CARRIED = frozenset((*LOSSES.values(), *_SHAPES.split(), *_ARITHMETIC.split()))
_ADDING = frozenset({"add", "sub", "add_", "sub_"})
_OUTER = frozenset({"scale", "truediv", "div", "neg"})


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of a loss, with the operation that added it (None: it is the loss)."""

    value: Value
    added: Made | None


def terms_of(loss: Tensor) -> Iterator[Term]:
    """The summands of what is back-propagated, through scaling and division of the whole."""
    todo: list[Term] = [Term(loss, None)]
    for _ in range(_MOST):
        if not todo:
            return
        term = todo.pop()
        made = term.value.made if isinstance(term.value, Tensor) else None
        if made is None:
            yield term
        elif made.op in _ADDING:
            todo.extend(Term(each, made) for each in reversed(made.inputs[:2]))
        elif made.op in _OUTER and made.inputs and isinstance(made.inputs[0], Tensor):
            todo.append(Term(made.inputs[0], term.added))
        elif made.op == "mul" and sum(isinstance(each, Tensor) for each in made.inputs) == 1 and isinstance(term.value, Tensor) and not term.value.attached:
            todo.append(Term(next(each for each in made.inputs if isinstance(each, Tensor)), term.added))
        else:
            yield term


def cuts_in(value: Value) -> Iterator[tuple[Made, Tensor]]:
    """Where a graph was cut on the way to ``value``, with the tensor that still had it; nothing beyond operations that are not known."""
    todo: list[Value] = [value]
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        each = todo.pop()
        if isinstance(each, Scalar):
            if each.tensor.attached and each.span is not None:
                yield Made("item", (each.tensor,), {}, each.span), each.tensor
            continue
        if not isinstance(each, Tensor) or isinstance(each, Parameter) or id(each) in seen or each.made is None:
            continue
        seen.add(id(each))
        made = each.made
        if made.op in CUTS:
            yield from ((made, inner) for inner in made.tensors if inner.attached and not isinstance(inner, Parameter))
        elif made.op in CARRIED:
            todo.extend(inner for inner in _inputs(made))


def cuts_anywhere_in(value: Tensor) -> Iterator[tuple[Made, Tensor]]:
    """Where a graph was cut on the way to ``value``, through operations that are not known too: only where it has no graph for certain."""
    for each in all_in(value):
        if each.made is not None and each.made.op in CUTS:
            yield from ((each.made, inner) for inner in each.made.tensors if inner.attached and not isinstance(inner, Parameter))


def drawn_in(value: Tensor) -> Iterator[tuple[Made, Tensor]]:
    """Draws on the way to ``value`` that carry no graph, through all operations, with the parameters of the distribution that still had it."""
    for each in all_in(value):
        if each.made is not None and each.made.op in DRAWS:
            yield from ((each.made, inner) for inner in each.made.tensors if inner.attached and not isinstance(inner, Parameter))


def switched_off_in(value: Tensor, *, modules: bool = False) -> Iterator[tuple[Made, Tensor]]:
    """Operations on the way to ``value`` that carry a gradient and gave none, though what went in has a graph: gradients were off.

    With ``modules`` those of layers and models count too, and calls that were not followed.
    """
    for each in all_in(value):
        made = each.made
        known = made is not None and (made.op in CARRIED - CUTS or (modules and not {"module", WITHOUT_GRAD}.isdisjoint(made.options)))
        if made is not None and known and not each.attached:
            yield from ((made, inner) for inner in made.tensors if inner.attached and inner.forwards and not isinstance(inner, Parameter))


def is_from_what_was_given_a_model(loss: Tensor) -> bool:
    """Whether a loss that has no graph comes of a call which was not followed and was given a model: that may have run it, with its graph."""
    made = (each.made for each in all_in(loss) if each.made is not None) if not loss.attached else ()
    unknown = (each for each in made if UNFOLLOWED in each.options or each.op == "call")
    return any(is_module(given) for each in unknown for given in (*each.inputs, *each.options.values()))


def _inputs(made: Made) -> Iterator[Value]:
    for value in made.inputs:
        yield from (value,) if isinstance(value, Scalar) else tensors_in(value)


def attached_in(*values: Tensor) -> frozenset[Made]:
    """The operations that backwards from ``values`` go through. A tensor that went through a slot is another one, made by the same operation."""
    found: set[Made] = set()
    todo = [*values]
    most = _MOST * len(values)
    while todo and len(found) < most:
        tensor = todo.pop()
        if tensor.attached and tensor.made is not None and tensor.made not in found:
            found.add(tensor.made)
            todo.extend(tensor.made.tensors)
            if tensor.made.options:
                todo.extend(tensors_in(tuple(tensor.made.options.values())))
    return frozenset(found)


def all_in(value: Tensor, *, short_of: frozenset[str] = frozenset()) -> Iterator[Tensor]:
    """Every tensor that ``value`` was made of, with a graph or without; not what the operations ``short_of`` were given."""
    seen = {id(value)}
    todo = [value]
    while todo and len(seen) < _MOST:
        tensor = todo.pop()
        yield tensor
        if tensor.made is None or tensor.made.op in short_of:
            continue
        for each in tensor.made.tensors:
            if id(each) not in seen:
                seen.add(id(each))
                todo.append(each)
