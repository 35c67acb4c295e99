"""Connectionist temporal classification: a loss over every way in which a text may lie in a row of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from estimator.tape.copying import like
from estimator.tape.graph import Node, record, tracked
from estimator.tape.registry import operation
from estimator.tape.tensor import Tensor, new

#: Dimensions of log-probabilities: frames, texts, classes.
_BATCHED = 3


@operation("F.ctc_loss", "ctc_loss")
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, *_: Any, reduction: str = "mean", **__: Any) -> Tensor:
    """PyTorch 2.14's own kernel (``LossCTC.cu``): keeps the log-probabilities and ``log_alpha``, two places a letter and one more for each frame."""
    frames = log_probs.shape[0]
    texts = log_probs.shape[1] if log_probs.ndim == _BATCHED else 1
    longest = targets.shape[-1] if targets.ndim > 1 else -(-targets.numel() // texts)
    node = record((log_probs,), _back, (log_probs, targets))
    alpha = new((texts, frames, 2 * longest + 1), log_probs.dtype, log_probs.device)
    losses = new((texts,), log_probs.dtype, log_probs.device)
    if node is not None:
        node.keep(alpha)
        node.keep(losses)
    result = losses if reduction == "none" else new((), log_probs.dtype, log_probs.device)
    tracked(node, result)
    return result


def _back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """The gradient, beside ``log_beta``, which is as large as ``log_alpha``."""
    log_probs, _, alpha, _ = node.unpack()
    if log_probs is None or alpha is None:
        return (None,)
    beta = like(alpha)
    made = like(log_probs)
    del beta
    return (made,)
