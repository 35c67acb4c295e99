"""Whose batches a loader gives: each rank's own, or the same on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.values import Instance
from analysis.library.optimizers import PREPARED
from analysis.library.recording import modes

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain


def differs_by_rank(domain: TraceDomain, loader: Instance) -> bool:
    """Whether ranks have batches of their own; one that comes from elsewhere and is gone through with gradients gives them in training."""
    return _is_divided(loader) or (loader.assumed and modes(domain.machine).grad)


def _is_divided(loader: Instance) -> bool:
    """Whether each rank has batches of its own: dealt out by an accelerator, by the sampler, or by an argument that differs between ranks."""
    if isinstance(loader.fields.get(PREPARED), Instance):
        return True
    for each in (loader, loader.fields.get("sampler"), loader.fields.get("batch_sampler"), loader.fields.get("dataset")):
        if isinstance(each, Instance) and (
            each.cls.has_base("torch.utils.data.DistributedSampler") or any(getattr(value, "rank_varying", False) is True for value in each.fields.values())
        ):
            return True
    return False
