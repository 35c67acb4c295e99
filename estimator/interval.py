"""How sure a peak is: each named unknown widens it by bytes, in the allocator's count and in what nvidia-smi shows.

Where the widths come from. Allocated bytes: 64 training and inference scripts against PyTorch's own code on fake tensors were off by 0.3 % on
average, and by 2.5 % at most where no named unknown explained it; replays against published measurements on a T4 by 0.22 % on average and 0.70 %
at most over 8 runs. Reserved bytes: the same replays by about 2 % on average and 8.9 % at most over 28.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from estimator.catalog import ASSUMED_CONTEXT_BYTES, Gpu
from estimator.estimate import Components, Holder, Interval, Memory

MIB = 1 << 20

#: Worst error of allocated bytes seen that nothing named explains: kernel choice, workspaces, how long a script's own names hold tensors.
_ALLOCATED_SHARE = 0.025
#: Reserved bytes: below, the usual error; above, the worst seen, since promising a fit that fails costs a run.
_RESERVED_SHARE_BELOW = 0.05
_RESERVED_SHARE_ABOVE = 0.09
#: A context that was measured differs by this between runs (135 to 141 MiB on a T4); one that was not is somewhere in 300 to 600 MiB.
_MEASURED_CONTEXT_BELOW = 6 * MIB
_CONTEXT_BELOW = 150 * MIB
_CONTEXT_ABOVE = 150 * MIB


@dataclass(frozen=True, slots=True)
class Cause:
    """A named unknown: the truth may lie ``below`` bytes under the point or ``above`` bytes over it."""

    name: str
    below: int
    above: int


@dataclass(frozen=True, slots=True)
class Context:
    """What the process holds outside the allocator, in bytes."""

    bytes: int
    interval: Interval
    why: str


def context_on(gpu: Gpu | None, given: int | None = None) -> Context:
    """The context's size on ``gpu`` (None: an A100), or the size ``given`` by the user, which is then not in doubt."""
    if given is not None:
        return Context(given, Interval(given, given), f"the context is {given // MIB} MiB as given")
    if gpu is not None and gpu.context_is_measured:
        size = gpu.context_bytes
        return Context(size, Interval(size - _MEASURED_CONTEXT_BELOW, size), f"the context was measured as up to {size // MIB} MiB")
    size = ASSUMED_CONTEXT_BYTES if gpu is None else gpu.context_bytes
    return Context(size, Interval(size - _CONTEXT_BELOW, size + _CONTEXT_ABOVE), f"the context is taken as {size // MIB} MiB, 300 to 600 MiB are usual")


def allocated_interval(allocated: int, causes: Iterable[Cause] = ()) -> Interval:
    """Where ``torch.cuda.max_memory_allocated()`` lies: the replay's own doubt and every cause's."""
    doubt = round(allocated * _ALLOCATED_SHARE)
    below = doubt + sum(cause.below for cause in causes)
    above = doubt + sum(cause.above for cause in causes)
    return Interval(max(0, allocated - below), allocated + above)


def peak_interval(reserved: int, allocated: Interval, causes: Iterable[Cause], context: Context) -> Interval:
    """Where the process's peak on the device lies: segments reserved by the allocator, and the context.

    The allocator never reserves less than it hands out, so the lower end is at least ``allocated.low``.
    """
    below = sum(cause.below for cause in causes)
    above = sum(cause.above for cause in causes)
    low = max(allocated.low, round(reserved * (1 - _RESERVED_SHARE_BELOW)) - below)
    high = max(allocated.high, round(reserved * (1 + _RESERVED_SHARE_ABOVE)) + above)
    return Interval(low + context.interval.low, high + context.interval.high)


@dataclass(frozen=True, slots=True)
class Peak:
    """What playing the tape gave: element counts, bytes by component at the allocated peak, and the most that was reserved."""

    parameters: int
    trainable_parameters: int
    components: Components  # context and fragmentation still 0
    allocated_bytes: int
    reserved_bytes: int
    peak_at: str
    largest: tuple[Holder, ...] = ()


def memory_of(peak: Peak, context: Context, causes: Iterable[Cause] = ()) -> Memory:
    """A peak as an estimate states it: fragmentation is reserved minus allocated, and the components add up to ``peak_bytes``.

    Raises ``ValueError`` where the components do not add up to the allocated bytes: then something at the peak was not named.
    """
    causes = tuple(causes)
    named = sum(getattr(peak.components, name) for name in Components.__slots__)
    if named != peak.allocated_bytes:
        raise ValueError(f"The components at the peak add up to {named} bytes, but {peak.allocated_bytes} are allocated.")
    allocated = allocated_interval(peak.allocated_bytes, causes)
    reserved = max(peak.reserved_bytes, peak.allocated_bytes)
    return Memory(
        parameters=peak.parameters,
        trainable_parameters=peak.trainable_parameters,
        components=replace(peak.components, context=context.bytes, fragmentation=reserved - peak.allocated_bytes),
        allocated_bytes=peak.allocated_bytes,
        allocated_interval=allocated,
        peak_bytes=reserved + context.bytes,
        interval=peak_interval(reserved, allocated, causes, context),
        peak_at=peak.peak_at,
        largest=peak.largest,
    )
