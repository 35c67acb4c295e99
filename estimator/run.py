"""The door: what a script, or a named model, will hold on the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis.certainty import Unknown
from analysis.snapshot import Snapshot
from estimator.catalog import Gpu, gpu, model
from estimator.config import TrainingConfig
from estimator.estimate import Components, Estimate, Fit, Holder, Memory, Mode, Remedy, Verdict
from estimator.fit import fits
from estimator.interval import Peak, context_on, memory_of
from estimator.kernels import SM80
from estimator.remedies import remedies
from estimator.request import Request
from estimator.script.entry import is_entry, not_an_entry
from estimator.script.knobs import Knobs
from estimator.script.reading import config_of, mode_of
from estimator.script.run import Run, run_script
from estimator.script.template import PATH, config_for, script_for
from estimator.tape.events import Kind
from estimator.timeline import Timeline, timeline

_NOTHING_SEEN = "no model was seen to train: what the script runs when it is started without arguments does not reach one"
#: Source lines shown as what holds most.
_SHOWN_HOLDERS = 5


def estimate(snapshot: Snapshot, request: Request) -> tuple[Estimate, ...]:
    """Every configuration of the request's entry point; the one that runs without arguments first.

    Raises ``estimator.catalog.UnknownNameError`` for a GPU or model that is not in the catalog.
    """
    cards = tuple(gpu(name) for name in request.gpus)
    played = _play(snapshot, request, _generation(cards))
    if isinstance(played, str) or played.memory is None:
        return (_unresolved(request, played),)
    found = Estimate(
        entry=request.entry or played.config_model(),
        mode=played.mode,
        config=played.config,
        memory=played.memory,
        unknowns=played.unknowns,
        fits=fits(played.memory, played.config, cards),
    )
    return (replace(found, remedies=_remedies(snapshot, request, found, cards)),)


def is_resolved(run: Run) -> bool:
    """Whether a model ran to the end of what was to be seen, and nothing of it was lost."""
    observed, tape = run.observed, run.tape
    if observed.main is None or observed.lost:
        return False
    if tape.backwards:
        return tape.steps > 0 or not tape.optimizers
    return not observed.lost_in_evaluation


def unknowns_of(run: Run) -> tuple[str, ...]:
    """What is in doubt, what decides most first."""
    observed = run.observed
    return (*observed.lost, *observed.lost_in_evaluation, *observed.unknowns, *run.tape.assumptions)


class _Played:
    """One run, read."""

    def __init__(self, run: Run, config: TrainingConfig, mode: Mode, card: Gpu | None) -> None:
        self.config = config
        self.mode = mode
        self.unknowns = unknowns_of(run)
        self.memory = _memory(run, timeline(run.tape.events), card) if is_resolved(run) else None

    def config_model(self) -> str:
        """The model's name."""
        return str(getattr(self.config.model, "value", "model"))


def _play(snapshot: Snapshot, request: Request, generation: int) -> _Played | str:
    """One run of the request; where the file is no training script, the sentence that says why."""
    card = gpu(request.gpus[0]) if request.gpus else None
    if request.model is not None:
        chosen = model(request.model)
        config = config_for(chosen, request)
        text = script_for(chosen, config, request)
        run = run_script(Snapshot.of({PATH: text.encode()}), PATH, replace(request, overrides={}), generation)
        return _Played(run, config, mode_of(run), card)
    entry = request.entry or ""
    why_not = not_an_entry(snapshot, entry)
    if why_not is not None:
        return why_not
    run = run_script(snapshot, entry, request, generation)
    return _Played(run, config_of(run, request), mode_of(run), card)


def _generation(cards: tuple[Gpu, ...]) -> int:
    """The compute capability that decides the kernels: the first card's, an A100's where none is named."""
    capability = cards[0].compute_capability if cards else None
    return SM80 if capability is None else capability[0] * 10 + capability[1]


def _memory(run: Run, played: Timeline, card: Gpu | None) -> Memory:
    parts = {kind.value: played.components.get(kind, 0) for kind in Kind}
    peak = Peak(
        parameters=run.observed.parameters,
        trainable_parameters=run.observed.trainable,
        components=Components(**parts),
        allocated_bytes=played.allocated,
        reserved_bytes=played.reserved,
        peak_at=played.phase.value,
        largest=tuple(Holder(held.place, held.bytes, held.kind.value) for held in played.holders if held.place is not None)[:_SHOWN_HOLDERS],
    )
    return memory_of(peak, context_on(card))


def _unresolved(request: Request, played: _Played | str) -> Estimate:
    """An estimate without numbers, which says what is missing."""
    cards = tuple(gpu(name) for name in request.gpus)
    fits = tuple(Fit(card.name, card.usable_bytes, Verdict.CANNOT_TELL) for card in cards)
    entry = request.entry or str(request.model)
    if isinstance(played, str):
        return Estimate(entry, Mode.TRAINING, TrainingConfig(model=Unknown(played)), None, (played,), fits)
    return Estimate(entry, played.mode, played.config, None, played.unknowns or (_NOTHING_SEEN,), fits)


def _remedies(snapshot: Snapshot, request: Request, found: Estimate, cards: tuple[Gpu, ...]) -> tuple[Remedy, ...]:
    """What would make it fit the first card that it does not fit, each tried by running it."""
    tight = next((card for card, each in zip(cards, found.fits, strict=True) if each.verdict is not Verdict.FITS), None)
    if tight is None or found.memory is None:
        return ()
    knobs = Knobs(snapshot, request, found)

    def rerun(overrides: Mapping[str, Any]) -> tuple[TrainingConfig, Memory] | None:
        if "gpu" in overrides:
            return None
        return knobs.turn(overrides, lambda changed: _once(snapshot, changed, tight))

    return remedies(found.config, found.memory, tight, rerun)


def _once(snapshot: Snapshot, request: Request, card: Gpu) -> tuple[TrainingConfig, Memory] | None:
    played = _play(snapshot, replace(request, gpus=(card.name,)), _generation((card,)))
    return None if isinstance(played, str) or played.memory is None else (played.config, played.memory)
