"""Whether a run fits a card: the two ends of its interval against what one process can have there.

``fits``: even the pessimistic end does; ``does_not_fit``: even the optimistic end does not; ``borderline`` in between.
Where a size that nobody wrote down decides, the verdict is at most ``borderline``; where the source bounds it, the largest one may fit.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.certainty import Assumed
from estimator.catalog import Gpu
from estimator.config import TrainingConfig
from estimator.estimate import Components, Fit, Interval, Memory, Verdict

#: The fields whose value scales what a step needs.
_SIZES = ("batch_size", "sequence_length", "image_size")


def assumed_sizes(config: TrainingConfig) -> tuple[str, ...]:
    """The sizes of ``config`` that were assumed."""
    return tuple(name for name in _SIZES if isinstance(getattr(config, name), Assumed))


def _open_sizes(config: TrainingConfig) -> list[str]:
    """Those of which larger values may come than what was assumed."""
    return [name for name in assumed_sizes(config) if not getattr(config, name).at_most]


def interval_on(memory: Memory, gpu: Gpu) -> Interval:
    """The peak's interval with the context of ``gpu`` in place of the one that ``memory`` was stated with."""
    shift = gpu.context_bytes - memory.components.context
    return Interval(memory.interval.low + shift, memory.interval.high + shift)


def fit(memory: Memory | None, config: TrainingConfig, gpu: Gpu) -> Fit:
    """The verdict for one card."""
    return Fit(gpu.name, gpu.usable_bytes, _verdict(memory, config, gpu))


def fits(memory: Memory | None, config: TrainingConfig, gpus: Iterable[Gpu]) -> tuple[Fit, ...]:
    """The verdict for each card, in the given order."""
    return tuple(fit(memory, config, gpu) for gpu in gpus)


def _verdict(memory: Memory | None, config: TrainingConfig, gpu: Gpu) -> Verdict:
    if memory is None:
        return Verdict.CANNOT_TELL
    interval = interval_on(memory, gpu)
    if assumed_sizes(config) and (_open_sizes(config) or interval.high > gpu.usable_bytes):
        # Whatever the size is, what the model and its optimizer hold is there: only that can rule a card out.
        return Verdict.DOES_NOT_FIT if _held_whatever_the_size(memory.components, gpu) > gpu.usable_bytes else Verdict.BORDERLINE
    if interval.high <= gpu.usable_bytes:
        return Verdict.FITS
    return Verdict.DOES_NOT_FIT if interval.low > gpu.usable_bytes else Verdict.BORDERLINE


def _held_whatever_the_size(components: Components, gpu: Gpu) -> int:
    return components.parameters + components.buffers + components.optimizer_state + gpu.context_bytes
