"""One run, read: its configuration, its mode and, where nothing of the model was lost, its memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from analysis.snapshot import Snapshot
from estimator.catalog import Gpu, gpu, model
from estimator.config import TrainingConfig
from estimator.estimate import Components, Holder, Memory, Mode
from estimator.interval import Peak, context_on, memory_of
from estimator.kernels import SM80
from estimator.request import Request
from estimator.script.causes import Doubted
from estimator.script.entry import not_an_entry
from estimator.script.reading import config_of, layout_of, mode_of
from estimator.script.run import Run
from estimator.script.template import PATH, around, config_for, config_shown, script_for, without_lines
from estimator.sharding import per_rank
from estimator.tape.events import Kind
from estimator.timeline import timeline

#: Source lines shown as what holds most.
_SHOWN_HOLDERS = 5


@dataclass(frozen=True, slots=True)
class Played:
    """``memory`` is None where the run did not show it; ``unknowns`` then say why."""

    config: TrainingConfig
    mode: Mode
    memory: Memory | None
    unknowns: tuple[str, ...]


def play(snapshot: Snapshot, request: Request, generation: int, *, both_ends: bool = True) -> Played | str:
    """One run of the request; where the file is no training script, the sentence that says why.

    ``both_ends``: whether what only lowers the optimistic end is worked out as well, which takes another run.
    """
    with _no_collections():
        return _play(snapshot, request, generation, both_ends=both_ends)


def _play(snapshot: Snapshot, request: Request, generation: int, *, both_ends: bool) -> Played | str:
    card = gpu(request.gpus[0]) if request.gpus else None
    if request.model is not None:
        chosen = model(request.model)
        asked = config_for(chosen, request)
        text = script_for(chosen, asked, request)
        doubted = Doubted(Snapshot.of({PATH: text.encode()}), PATH, around(request), generation, both_ends=False)  # no repository says which version is meant
        run = doubted.run()
        config = config_shown(asked, config_of(run, request))
        memory = _memory(run, card, doubted, named=False) if is_resolved(run) else None
        return Played(config, mode_of(run), memory, tuple(without_lines(_unknowns(run))))
    entry = request.entry or ""
    why_not = not_an_entry(snapshot, entry)
    if why_not is not None:
        return why_not
    doubted = Doubted(snapshot, entry, request, generation, both_ends)
    run = doubted.run()
    memory = _memory(run, card, doubted, named=True) if is_resolved(run) else None
    return Played(config_of(run, request), mode_of(run), memory, tuple(_unknowns(run)))


@contextmanager
def _no_collections() -> Iterator[None]:
    """Python's search for cycles, off for one run: it makes objects by the hundred thousand and few cycles, and its steps bound it."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def generation_of(cards: tuple[Gpu, ...]) -> int:
    """The compute capability that decides the kernels: the first card's, an A100's where none is named."""
    capability = cards[0].compute_capability if cards else None
    return SM80 if capability is None else capability[0] * 10 + capability[1]


def is_resolved(run: Run) -> bool:
    """Whether a model ran to the end of what was to be seen, and nothing of it was lost."""
    observed, tape = run.observed, run.tape
    if observed.main is None or observed.lost:
        return False
    if tape.backwards:
        return tape.steps > 0 or not tape.optimizers
    return not observed.lost_in_evaluation


def _unknowns(run: Run) -> Iterator[str]:
    """What is in doubt, what decides most first."""
    observed, resolved = run.observed, is_resolved(run)
    yield from observed.lost
    yield from observed.lost_in_evaluation
    yield from (f"--set {name}: the script has neither a global nor an argument of this name" for name in run.unused)
    yield from (
        f"{each}; no model is given what comes of it, and the peak counts nothing for it" if resolved and each in observed.outside else each
        for each in observed.unknowns
    )
    yield from run.tape.assumptions


def _memory(run: Run, card: Gpu | None, doubted: Doubted, *, named: bool) -> Memory:
    """The peak; ``named``: lines of the script are the user's and may be shown."""
    played = timeline(run.tape.events)
    parts = {kind.value: played.components.get(kind, 0) for kind in Kind}
    holders = (Holder(held.place, held.bytes, held.kind.value) for held in played.holders if held.place is not None) if named else ()
    peak = Peak(
        parameters=run.observed.parameters + run.observed.beside,
        trainable_parameters=run.observed.trainable + run.observed.beside,
        components=Components(**parts),
        allocated_bytes=played.allocated,
        reserved_bytes=played.reserved,
        peak_at=played.phase.value,
        largest=tuple(holders)[:_SHOWN_HOLDERS],
    )
    within, way = played.phases, played.course
    causes = [*doubted.causes(run, played)]
    layout = layout_of(run, doubted.request)
    if layout is not None:
        peak, within, cause = per_rank(run.tape.events, peak, layout, run.observed.unit_bytes)
        causes.append(cause)
        way = ()  # what one rank of several takes is known by phase
    phases = tuple((phase.value, most) for phase, most in within.items())
    return replace(memory_of(peak, context_on(card), causes), phases=phases, course=way)
