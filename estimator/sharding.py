"""One rank's share where parameters, gradients or optimizer state are sharded: formulas on a played run, since no second rank is played.

ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054, section 5): stage 1 shards the optimizer's state over N devices, stage 2 the gradients too, stage 3
and FSDP the parameters too. What is sharded is whole only for the unit that runs. FSDP gathers a block and prefetches the next (PyTorch 2.14,
``_fully_shard/_fsdp_param_group.py``); what is in no block is whole from the first layer of forward to the end of backward, and so are its gradients; those
of a block are whole until they were copied for the reduction, whose buffer stays until the next block's. The step works on the share alone. State that is
offloaded (ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840) is updated on the host, where the gradients that it needs go as they are reduced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from estimator.estimate import Components
from estimator.interval import Cause, Peak
from estimator.tape.events import Allocated, Became, Entered, Event, Freed, Kind, Phase
from estimator.timeline import outliving_a_step

#: The strategies by the names that can be asked for, and how many of state, gradients and parameters each shards.
STRATEGIES: Mapping[str, int] = {"zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3}
_FSDP = "fsdp"
_STATE, _GRADIENTS, _PARAMETERS = 1, 2, 3
#: Units that are whole at once: the one that runs and the one that is fetched for it.
_GATHERED = 2
#: Elements of a bucket in which DeepSpeed reduces gradients (``reduce_bucket_size``, ``allgather_bucket_size``), two bytes each.
_BUCKET_BYTES = 2 * 500_000_000


@dataclass(frozen=True, slots=True)
class Layout:
    """How a run is spread over ``devices``: a ``strategy`` of ``STRATEGIES``, and what lies in host memory between its uses.

    ``copies`` is how many bytes of the sharded copy stand behind a byte of the parameters that compute: 2 where float32 shards are gathered in 16 bits.
    ``block`` is the largest part that FSDP gathers and lets go of, ``root`` what lies in no such part, in bytes; ``keeps``: parts stay whole from forward on.
    """

    strategy: str
    devices: int
    offloads_optimizer: bool = False
    offloads_parameters: bool = False
    copies: int = 1
    keeps: bool = False
    block: int = 0
    root: int = 0

    @property
    def depth(self) -> int:
        """How many of state, gradients and parameters are sharded."""
        return STRATEGIES[self.strategy]


def per_rank(events: Sequence[Event], peak: Peak, layout: Layout, unit: int) -> tuple[Peak, dict[Phase, int], Cause]:
    """The peak of one of the ranks, the most within each phase, and what the layout leaves in doubt.

    ``unit`` is the largest part that ZeRO gathers at once, in bytes. What is loaded before the first step is not looked at.
    """
    rank = _Rank(layout, unit, outliving_a_step(events))
    rank.play(events)
    parts = Components(**{kind.value: size for kind, size in rank.parts.items()})
    allocated = sum(rank.parts.values())
    reserved = max(allocated, round(allocated * peak.reserved_bytes / max(peak.allocated_bytes, 1)))
    gathered = 2 * (layout.block or layout.root) if layout.strategy == _FSDP else 2 * unit
    doubt = gathered if layout.depth >= _PARAMETERS else min(2 * _BUCKET_BYTES, rank.most_gradients)
    cause = Cause(f"how {layout.strategy} lays out units and buckets over {layout.devices} devices", doubt // 2, doubt)
    found = replace(peak, components=parts, allocated_bytes=allocated, reserved_bytes=reserved, peak_at=rank.at.value)
    return found, rank.phases, cause


class _Rank:
    """What is alive on one rank, by kind, as the log of the whole run goes by."""

    def __init__(self, layout: Layout, unit: int, states: set[int]) -> None:
        self.layout = layout
        self.unit = unit
        self.states = states
        self.live: dict[int, tuple[int, Kind]] = {}
        self.whole: Counter[Kind] = Counter()
        self.parts: dict[Kind, int] = {}
        self.phases: dict[Phase, int] = {}
        self.at = Phase.FORWARD
        self.most_gradients = 0
        self.reduced = 0  # bytes of the gradients that an earlier backward left

    def play(self, events: Sequence[Event]) -> None:
        """Look at the most from the end of the first step on; at everything where there is none."""
        phase, steady = Phase.FORWARD, not any(event == Entered(Phase.OPTIMIZER_STEP) for event in events)
        for event in events:
            match event:
                case Allocated(key, size, kind):
                    self.take(key, size, Kind.OPTIMIZER_STATE if key in self.states and kind is Kind.TEMPORARY else kind)
                    if steady:
                        self.look(phase)
                case Freed(key):
                    size, kind = self.live.pop(key)
                    self.whole[kind] -= size
                case Became(key, kind) if key in self.live:
                    size, before = self.live.pop(key)
                    self.whole[before] -= size
                    self.take(key, size, kind)
                case Entered(entered):
                    if steady and phase is Phase.BACKWARD:
                        self.look(phase, reduces=self.layout.root)
                    steady = steady or phase is Phase.OPTIMIZER_STEP
                    self.reduced = self.whole[Kind.GRADIENTS]
                    phase = entered
                case _:
                    pass

    def take(self, key: int, size: int, kind: Kind) -> None:
        """A storage is there, as that kind."""
        self.live[key] = (size, kind)
        self.whole[kind] += size
        self.most_gradients = max(self.most_gradients, self.whole[Kind.GRADIENTS])

    def look(self, phase: Phase, reduces: int = 0) -> None:
        """Whether this is the most so far; ``reduces``: bytes of the buffer that is reduced at the end of backward."""
        parts = {kind: self.share(kind, size, phase) for kind, size in self.whole.items()}
        if self.layout.depth >= _PARAMETERS and phase is not Phase.OPTIMIZER_STEP:
            parts[Kind.TEMPORARY] = parts.get(Kind.TEMPORARY, 0) + self.gathered(phase) + reduces
        if self.layout.strategy == _FSDP and phase is Phase.BACKWARD:
            whole = self.unreduced()
            parts[Kind.GRADIENTS] = whole + self.share(Kind.GRADIENTS, self.whole[Kind.GRADIENTS] - whole, phase)
        total = sum(parts.values())
        self.phases[phase] = max(self.phases.get(phase, 0), total)
        if total > sum(self.parts.values()):
            self.parts, self.at = parts, phase

    def unreduced(self) -> int:
        """Bytes of this backward's gradients that are whole: those of what is in no block, and of the block that runs."""
        return min(self.whole[Kind.GRADIENTS] - self.reduced, self.layout.root + self.layout.block)

    def gathered(self, phase: Phase) -> int:
        """Bytes that are whole beside the shares: parameters, and the buffer of what is reduced."""
        layout, backward = self.layout, phase is Phase.BACKWARD
        if layout.strategy != _FSDP:
            return (_GATHERED + backward) * self.unit
        parameters = layout.root + _GATHERED * layout.block
        if layout.keeps:
            parameters = max(parameters, self.whole[Kind.PARAMETERS] - max(0, self.whole[Kind.GRADIENTS] - self.reduced - layout.root))
        return parameters + backward * layout.block

    def share(self, kind: Kind, size: int, phase: Phase) -> int:
        """Bytes of one rank for ``size`` bytes of the whole run."""
        layout = self.layout
        match kind:
            case Kind.PARAMETERS:
                return 0 if layout.offloads_parameters else self.divided(size, shards=layout.depth >= _PARAMETERS)
            case Kind.GRADIENTS:
                gone = layout.offloads_optimizer and layout.depth >= _GRADIENTS
                return 0 if gone else self.divided(size, shards=layout.depth >= _GRADIENTS)
            case Kind.OPTIMIZER_STATE:
                return 0 if layout.offloads_optimizer else self.divided(size, shards=layout.depth >= _STATE)
            case Kind.TEMPORARY | Kind.ACTIVATIONS if phase is Phase.OPTIMIZER_STEP:
                return 0 if layout.offloads_optimizer else self.divided(size, shards=True)
        return size

    def divided(self, size: int, *, shards: bool) -> int:
        """One rank's part of what is stored in the sharded copy's type."""
        return self.layout.copies * (-(-size // self.layout.devices) if shards else size)
