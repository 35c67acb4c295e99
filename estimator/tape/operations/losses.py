"""Losses: cross entropy from log-softmax and its choice, and element-wise ones that keep input and target."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from estimator.tape.agreement import must_agree
from estimator.tape.copying import like
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.pointwise import combined, mul, result_dtype, sub
from estimator.tape.operations.reductions import mean
from estimator.tape.operations.reductions import sum as total
from estimator.tape.operations.softmax import log_softmax
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import broadcast
from estimator.tape.tensor import Tensor, new


@operation("F.cross_entropy", "_C._nn.cross_entropy_loss")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Log-softmax in the input's own dtype (autocast does not change it), then the choice of the target's element."""
    logs = log_softmax(input, 1 if input.ndim > 1 else 0, dtype=input.dtype)
    if target.dtype.is_floating_point:
        return _reduced(-total(mul(logs, target), 1), reduction)
    loss = nll_loss(logs, target, weight, reduction=reduction)
    if not label_smoothing:
        return loss
    smooth = _reduced(-total(logs, 1 if input.ndim > 1 else 0), reduction)
    return mul(loss, 1 - label_smoothing) + mul(smooth, label_smoothing)


@operation("F.nll_loss")
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """The target's elements, negated; keeps the log-probabilities and the target."""
    must_agree(target.shape == (*input.shape[:1], *input.shape[2:]) or input.ndim == 1, "nll_loss", input, target)
    node = record((input,), _nll_back, (input, target, weight))
    result = new(target.shape if reduction == "none" else (), input.dtype, input.device)
    if node is not None:
        node.keep(new((), input.dtype, input.device))  # the sum of the weights
    tracked(node, result)
    return result


def _nll_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    (kept, *_) = node.unpack()
    return (None if kept is None else like(kept),)


def _reduced(x: Tensor, reduction: str) -> Tensor:
    match reduction:
        case "mean":
            return mean(x)
        case "sum":
            return total(x)
        case _:
            return x


def _elementwise(input: Tensor, target: Tensor, reduction: str, extra: Tensor | None = None) -> Tensor:
    """A fused loss: keeps input and target, and makes the losses of all elements before it reduces them."""
    node = record((input, target), _elementwise_back, (input, target, extra))
    dtype = result_dtype(input, target)
    shape = broadcast(input.shape, target.shape)
    if reduction != "none":
        current().scratch(prod(shape) * dtype.itemsize, input.device)
    result = combined((input, target), dtype) if reduction == "none" else new((), dtype, input.device)
    tracked(node, result)
    return result


def _elementwise_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    x, target, *_ = node.unpack()
    if x is None or target is None:
        return (None, None)
    return tuple(combined((x, target), x.dtype) if node.needs(i) else None for i in (0, 1))


@operation("F.mse_loss", "F.smooth_l1_loss", "F.huber_loss", "F.soft_margin_loss")
def mse_loss(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """The mean square of differences, and its kin."""
    return _elementwise(input, target, reduction)


@operation("F.binary_cross_entropy")
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Cross entropy of probabilities."""
    must_agree(input.shape == target.shape, "binary_cross_entropy", input, target)
    return _elementwise(input, target, reduction, weight)


@operation("F.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *_: Any,
    reduction: str = "mean",
    **__: Any,
) -> Tensor:
    """Cross entropy of logits, for which their log-sigmoid is made beside the losses."""
    must_agree(input.shape == target.shape, "binary_cross_entropy_with_logits", input, target)
    current().scratch(2 * input.nbytes, input.device)
    return _elementwise(input, target, reduction, weight)


@operation("F.l1_loss")
def l1_loss(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """The mean absolute difference, of ordinary operations."""
    return _reduced(sub(input, target).abs(), reduction)


@operation("F.kl_div")
def kl_div(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", log_target: bool = False, **__: Any) -> Tensor:
    """The divergence, of ordinary operations."""
    weights = target.exp() if log_target else target
    loss = mul(weights, sub(target if log_target else target.log(), input))
    if reduction == "batchmean":
        return total(loss) / input.shape[0]
    return _reduced(loss, reduction)


@operation("F.cosine_similarity", "cosine_similarity")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between two."""
    lengths = [x.norm(2, dim=dim, keepdim=True).clamp_min(eps) for x in (x1, x2)]
    return total(mul(x1 / lengths[0], x2 / lengths[1]), dim)
