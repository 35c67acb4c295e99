"""One rank's share where parameters, gradients or optimizer state are sharded: formulas, since no second rank is played.

ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054, section 5): stage 1 shards the optimizer's state over N devices, stage 2 the gradients too, stage 3
and FSDP the parameters too. What is sharded is whole only for the unit that runs: FSDP gathers one and prefetches the next
(PyTorch's FSDP notes, ``backward_prefetch``), and holds that unit's whole gradient until it is reduced. The step works on the share alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from estimator.estimate import Components
from estimator.interval import Cause, Peak

#: The strategies by the names that can be asked for, and how many of state, gradients and parameters each shards.
STRATEGIES: Mapping[str, int] = {"zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3}
_STATE, _GRADIENTS, _PARAMETERS = 1, 2, 3
#: Units that are whole at once: the one that runs and the one that is fetched for it.
_GATHERED = 2
#: Elements of a bucket in which DeepSpeed reduces gradients (``reduce_bucket_size``, ``allgather_bucket_size``), two bytes each.
_BUCKET_BYTES = 2 * 500_000_000


@dataclass(frozen=True, slots=True)
class Whole:
    """Bytes that a rank holds without sharding.

    ``unit`` is the largest part that is gathered at once; ``gradients_in_backward`` are those that are there at the backward's own peak.
    """

    parameters: int
    gradients: int
    state: int
    buffers: int
    unit: int
    gradients_in_backward: int


def per_rank(peak: Peak, phases: Mapping[str, int], whole: Whole, strategy: str, devices: int) -> tuple[Peak, Cause]:
    """The peak of one of ``devices`` ranks, and what its layout leaves in doubt. ``phases``: the unsharded peak within each phase."""
    depth = STRATEGIES[strategy]
    parameters = _share(whole.parameters, devices, shards=depth >= _PARAMETERS)
    gradients = _share(whole.gradients, devices, shards=depth >= _GRADIENTS)
    state = _share(whole.state, devices, shards=depth >= _STATE)
    held = parameters + state + whole.buffers
    before = whole.parameters + whole.state + whole.buffers
    gathered = _GATHERED * whole.unit if depth >= _PARAMETERS else 0
    of_backward = whole.gradients_in_backward
    saved = of_backward - _share(of_backward, devices, shards=depth >= _GRADIENTS)
    unreduced = whole.unit if depth >= _PARAMETERS else 0
    stepping = max(0, phases.get("optimizer_step", 0) - before - whole.gradients)
    found = {
        "forward": max(0, phases.get("forward", 0) - before) + held + gathered,
        "backward": max(0, phases.get("backward", 0) - before - saved) + held + gathered + unreduced,
        "optimizer_step": held + gradients + -(-stepping // devices),
    }
    at = max((name for name in found if name in phases), key=lambda name: found[name])
    allocated = found[at]
    reserved = max(allocated, round(allocated * peak.reserved_bytes / max(peak.allocated_bytes, 1)))
    kept = {"forward": 0, "backward": of_backward - saved, "optimizer_step": gradients}[at]
    parts = Components(parameters=parameters, gradients=kept, optimizer_state=state, buffers=whole.buffers, temporary=gathered if at != "optimizer_step" else 0)
    rest = max(0, allocated - parts.parameters - parts.gradients - parts.optimizer_state - parts.buffers - parts.temporary)
    kind = "temporary" if at == "optimizer_step" else "activations"
    parts = replace(parts, **{kind: getattr(parts, kind) + rest})
    doubt = 2 * whole.unit if depth >= _PARAMETERS else min(2 * _BUCKET_BYTES, whole.gradients)
    sharded = replace(peak, components=parts, allocated_bytes=allocated, reserved_bytes=reserved, peak_at=at)
    return sharded, Cause(f"how {strategy} lays out units and buckets over {devices} devices", doubt // 2, doubt)


def _share(size: int, devices: int, *, shards: bool) -> int:
    return -(-size // devices) if shards else size
