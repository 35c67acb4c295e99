"""What would make a run fit a card: changes tried one after another, each by estimating the run anew, within a bounded number of runs.

Ranking puts what fits first and, among that, what costs least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from estimator.catalog import Gpu
from estimator.config import TrainingConfig
from estimator.estimate import Memory, Remedy
from estimator.fit import interval_on
from estimator.possible_changes import Change, Overrides, bigger_card, candidates, joined

#: Estimates the entry point anew under these overrides; None where it could not be resolved.
Rerun: TypeAlias = Callable[[Overrides], tuple[TrainingConfig, Memory] | None]

#: Runs that are kept back for several changes together, as long as none is enough by itself.
_KEPT_BACK = 2
#: Runs spent on finding the micro-batch.
_MICRO_BATCH_RUNS = 2


@dataclass(frozen=True, slots=True)
class Trial:
    """A change, the configuration it gives and the memory it takes."""

    change: Change
    config: TrainingConfig
    memory: Memory


class _Runs:
    """Reruns, as many as there are left."""

    def __init__(self, rerun: Rerun, left: int) -> None:
        self.rerun = rerun
        self.left = left

    def trial(self, change: Change) -> Trial | None:
        """The change tried; None where it cannot be, or no run is left."""
        if self.left <= 0:
            return None
        self.left -= 1
        result = self.rerun(change.overrides)
        return Trial(change, *result) if result else None


def remedies(
    config: TrainingConfig, memory: Memory, gpu: Gpu, rerun: Rerun, *, most: int = 4, reruns: int = 6, cards: Iterable[Gpu] = ()
) -> tuple[Remedy, ...]:
    """What would make the run fit ``gpu``, each estimated by ``rerun``: single changes, and where none is enough, several together.

    ``cards`` are those it may move to. Nothing where the whole interval is already below the card's memory: then an assumption is in the way
    of ``fits``, not memory.
    """
    if interval_on(memory, gpu).high <= gpu.usable_bytes:
        return ()
    runs = _Runs(rerun, reruns)
    trials: list[Trial] = []
    for changes in _by_kind(candidates(config, gpu)):
        enough = any(fits(trial, gpu) for trial in trials)
        if runs.left > (0 if enough else _KEPT_BACK):
            sizes = changes[0].kind == "micro-batch"
            trials += _micro_batches(config, changes, memory, gpu, runs) if sizes else _each(changes, runs)
    if not any(fits(trial, gpu) for trial in trials):
        trials += _together(trials, memory, gpu, runs)
    found = rank(trials, memory, gpu)
    card = bigger_card(memory, cards)
    if card is None:
        return found[:most]
    elsewhere = Remedy(card.title, 0, memory.peak_bytes, fits=True, cost=card.cost)
    enough_here = [remedy for remedy in found if remedy.fits][: most - 1]
    return (*enough_here, elsewhere, *(remedy for remedy in found if not remedy.fits))[:most]


def rank(trials: Iterable[Trial], memory: Memory, gpu: Gpu) -> tuple[Remedy, ...]:
    """The trials that save something as remedies: what fits ``gpu`` first, then by price, then by bytes saved."""
    saving = [trial for trial in trials if trial.memory.peak_bytes < memory.peak_bytes]
    ordered = sorted(saving, key=lambda trial: (not fits(trial, gpu), trial.change.price, trial.memory.peak_bytes if not fits(trial, gpu) else 0))
    best: dict[str, Trial] = {}
    for trial in ordered:
        best.setdefault(trial.change.kind, trial)
    return tuple(
        Remedy(
            change=trial.change.title,
            saves_bytes=memory.peak_bytes - trial.memory.peak_bytes,
            peak_bytes=trial.memory.peak_bytes,
            fits=fits(trial, gpu),
            cost=trial.change.cost,
        )
        for trial in best.values()
    )


def fits(trial: Trial, gpu: Gpu) -> bool:
    """Whether what the change gives fits the card, under the assumptions that the estimate was made with."""
    return interval_on(trial.memory, gpu).high <= gpu.usable_bytes


def _by_kind(changes: Iterable[Change]) -> Iterator[list[Change]]:
    return (list(group) for _, group in groupby(changes, key=lambda change: change.kind))


def _each(changes: Iterable[Change], runs: _Runs) -> Iterator[Trial]:
    return (trial for change in changes if (trial := runs.trial(change)))


def _micro_batches(config: TrainingConfig, changes: Sequence[Change], memory: Memory, gpu: Gpu, runs: _Runs) -> Iterator[Trial]:
    """The largest micro-batch that should fit by what grows with the batch, and a smaller one where it does not."""
    parts = memory.components
    held = parts.parameters + parts.buffers + parts.optimizer_state + parts.gradients + parts.context
    per_sample = (interval_on(memory, gpu).high - held) / int(getattr(config.batch_size, "value", 1))
    left = list(changes)
    for _ in range(_MICRO_BATCH_RUNS):
        fitting = [change for change in left if held + per_sample * change.overrides["batch_size"] <= gpu.usable_bytes]
        chosen = fitting[0] if fitting else left[-1] if left else None
        trial = runs.trial(chosen) if chosen is not None else None
        if chosen is None or trial is None:
            return
        yield trial
        if fits(trial, gpu):
            return
        left = left[left.index(chosen) + 1 :]


def _together(trials: Iterable[Trial], memory: Memory, gpu: Gpu, runs: _Runs) -> Iterator[Trial]:
    """Of each kind the change that saves most, joined: as many of the cheapest as should be enough, then all."""
    strongest: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda one: one.memory.peak_bytes):
        if trial.memory.peak_bytes < memory.peak_bytes:
            strongest.setdefault(trial.change.kind, trial)
    ordered = sorted(strongest.values(), key=lambda one: one.change.price)
    if len(ordered) < 2:  # noqa: PLR2004  one alone was tried
        return
    remaining, count = interval_on(memory, gpu).high, 0
    for trial in ordered:
        remaining -= memory.peak_bytes - trial.memory.peak_bytes
        count += 1
        if remaining <= gpu.usable_bytes:
            break
    for number in dict.fromkeys((max(count, 2), len(ordered))):
        both = runs.trial(joined([trial.change for trial in ordered[:number]]))
        if both is not None:
            yield both
            if fits(both, gpu):
                return
