"""``einsum``: sums of products by names of dimensions, each pair of operands permuted and folded into one ``bmm``, as PyTorch does it."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import prod
from typing import Any

from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.matmul import bmm
from estimator.tape.operations.reductions import sum as summed_over
from estimator.tape.operations.views import permute, reshape
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor

#: Names for the dimensions of an ellipsis, from the right; letters of an equation are ASCII.
_FIRST_UNNAMED = 0x100


@operation("einsum")
def einsum(equation: str, *operands: Any) -> Tensor:
    """The operands are joined from left to right; what no later one and not the output names is summed on the way."""
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    names, output = _named(equation, tensors)
    if any(len(set(each)) != len(each) for each in names):
        raise NotFollowed(f"torch.einsum of {equation!r}, which takes a diagonal,")
    made, has = tensors[0], names[0]
    for place, (other, its) in enumerate(zip(tensors[1:], names[1:], strict=True), 1):
        needed = set(output).union(*names[place + 1 :])
        made, has = _joined(made, has, other, its, needed)
    made, has = _without(made, has, set(output))
    return permute(made, [has.index(d) for d in output])


def _named(equation: str, tensors: list[Tensor]) -> tuple[list[str], str]:
    """The dimensions of each operand and of the output; those of an ellipsis get names too."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    written = inputs.split(",")
    if len(written) != len(tensors):
        raise NotFollowed(f"torch.einsum of {equation!r} with {len(tensors)} operands")
    counts = [tensor.ndim - len(each.replace("...", "")) for tensor, each in zip(tensors, written, strict=True)]
    most = max([0, *(count for count, each in zip(counts, written, strict=True) if "..." in each)])
    unnamed = "".join(chr(_FIRST_UNNAMED + place) for place in range(most))
    names = [each.replace("...", unnamed[most - count :]) for each, count in zip(written, counts, strict=True)]
    if arrow:
        return names, output.replace("...", unnamed)
    seen = Counter(chain.from_iterable(each.replace("...", "") for each in written))
    return names, unnamed + "".join(sorted(name for name, count in seen.items() if count == 1))


def _without(x: Tensor, has: str, needed: set[str]) -> tuple[Tensor, str]:
    """``x`` summed over the dimensions that nothing needs."""
    gone = [place for place, name in enumerate(has) if name not in needed]
    return (summed_over(x, gone), "".join(name for name in has if name in needed)) if gone else (x, has)


def _joined(x: Tensor, left: str, y: Tensor, right: str, needed: set[str]) -> tuple[Tensor, str]:
    """The product of two, summed over what both have and nothing else needs."""
    x, left = _without(x, left, needed | set(right))
    y, right = _without(y, right, needed | set(left))
    sizes = dict(zip(left + right, (*x.shape, *y.shape), strict=True))
    batch = [name for name in left if name in right and name in needed]
    summed = [name for name in left if name in right and name not in needed]
    rows = [name for name in left if name not in right]
    columns = [name for name in right if name not in left]

    def folded(tensor: Tensor, has: str, *groups: list[str]) -> Tensor:
        return reshape(permute(tensor, [has.index(name) for group in groups for name in group]), *(prod(sizes[name] for name in group) for group in groups))

    result = bmm(folded(x, left, batch, rows, summed), folded(y, right, batch, summed, columns))
    order = "".join((*batch, *rows, *columns))
    return reshape(result, *(sizes[name] for name in order)), order
