"""Functions that PyTorch itself composes of others, and losses made so."""

from __future__ import annotations

from typing import Any

from estimator.tape.copying import like
from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.comparison import compare, where
from estimator.tape.operations.losses import binary_cross_entropy_with_logits
from estimator.tape.operations.pointwise import add, div, mul, sub
from estimator.tape.operations.reductions import mean
from estimator.tape.operations.reductions import sum as total
from estimator.tape.operations.softmax import softmax
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor


def _reduced(x: Tensor, reduction: str) -> Tensor:
    match reduction:
        case "mean":
            return mean(x)
        case "sum":
            return total(x)
        case _:
            return x


@operation("F.tanhshrink")
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""
    return sub(input, input.tanh())


@operation("F.softsign")
def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return div(input, add(input.abs(), 1))


@operation("hypot", ".hypot", "logaddexp", ".logaddexp")
def both(x: Tensor, other: Tensor) -> Tensor:
    """Functions of two tensors that keep both."""
    combined: Tensor = x.maximum(other)
    return combined


@operation("F.gumbel_softmax")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, dim: int = -1, **_: Any) -> Tensor:
    """Softmax of logits with noise; ``hard`` adds a one-hot tensor that lets the gradient through."""
    noise: Tensor = like(logits).log()
    soft = softmax(div(add(logits, -noise), tau), dim)
    if not hard:
        return soft
    chosen = like(soft)
    return add(sub(chosen, soft.detach()), soft)


@operation("F.triplet_margin_loss")
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Distances to a positive and a negative compared."""
    near, far = (add(sub(anchor, other), 1e-6).norm(2, dim=-1) for other in (positive, negative))
    return _reduced(sub(near, far).clamp_min(0), reduction)


@operation("F.margin_ranking_loss")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Which of two should be larger."""
    return _reduced(mul(-target, sub(input1, input2)).clamp_min(0), reduction)


@operation("F.cosine_embedding_loss")
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Whether two should point the same way."""
    products = [total(mul(left, right), -1) for left, right in ((input1, input2), (input1, input1), (input2, input2))]
    cosine = div(products[0], mul(products[1], products[2]).sqrt())
    return _reduced(where(compare(target, 1), sub(1, cosine), cosine.clamp_min(0)), reduction)


@operation("F.poisson_nll_loss")
def poisson_nll_loss(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Of counts."""
    return _reduced(sub(input.exp(), mul(target, input)), reduction)


@operation("F.gaussian_nll_loss")
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Of numbers with a variance."""
    return _reduced(mul(add(var.log(), div(sub(input, target).square(), var)), 0.5), reduction)


@operation("F.pairwise_distance")
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The length of the difference."""
    distance: Tensor = add(sub(x1, x2), eps).norm(p, dim=-1, keepdim=keepdim)
    return distance


@operation("F.pixel_unshuffle")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Space moved into channels: a permuted copy."""
    batch, channels, height, width = input.shape
    r = downscale_factor
    spread: Tensor = input.view(batch, channels, height // r, r, width // r, r).permute(0, 1, 3, 5, 2, 4)
    result: Tensor = spread.reshape(batch, channels * r**2, height // r, width // r)
    return result


@operation("F.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """Of logits of labels that do not exclude each other."""
    return _reduced(mean(binary_cross_entropy_with_logits(input, target, reduction="none"), -1), reduction)


@operation("F.multi_head_attention_forward", "F.fold", "F.affine_grid", "fft.fft", "fft.ifft", "fft.rfft", "fft.irfft", "stft", "istft")
def not_followed(*_: Any, **__: Any) -> Tensor:
    """Not known to the tape: the estimate says so."""
    raise NotFollowed("torch.fft, torch.stft, fold and affine_grid")
