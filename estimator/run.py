"""The door: what a script, or a named model, will hold on the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis.certainty import Unknown
from analysis.snapshot import Snapshot
from estimator.catalog import Gpu, gpu, gpus
from estimator.config import TrainingConfig
from estimator.estimate import Estimate, Fit, Memory, Mode, Remedy, Verdict
from estimator.fit import fits
from estimator.readers.launches import Launch, documented_starts_of, launches_of
from estimator.remedies import remedies
from estimator.request import Request
from estimator.script.changes import not_applied
from estimator.script.entry import is_entry
from estimator.script.knobs import Knobs, ineffective_sizes
from estimator.script.played import Played, generation_of, play

#: Starts of one script that are estimated beside the one without arguments.
_MOST_STARTS = 8
#: Starts out of the documentation that are tried where no other tells a peak.
_MOST_DOCUMENTED = 3
_NOTHING_SEEN = "no model was seen to train: what the script runs when it is started without arguments does not reach one"

__all__ = ["estimate", "is_entry"]


def estimate(snapshot: Snapshot, request: Request) -> tuple[Estimate, ...]:
    """Every configuration of the request's entry point: without arguments first, then as files of the repository start it.

    Raises ``estimator.catalog.UnknownNameError`` for a GPU or model that is not in the catalog.
    """
    cards = tuple(gpu(name) for name in request.gpus)
    plain = _estimated(snapshot, request, cards)
    if request.entry is None or not request.every_start:
        return (plain,)
    starts = [_estimated(snapshot, _started(request, each), cards) for each in launches_of(snapshot, request.entry)[:_MOST_STARTS]]
    if all(each.memory is None for each in (plain, *starts)):
        starts += _as_documented(snapshot, request, cards)
    return (plain, *starts)


def _as_documented(snapshot: Snapshot, request: Request, cards: tuple[Gpu, ...]) -> tuple[Estimate, ...]:
    """The first start out of the documentation that tells a peak; where none does, the first one, which says why."""
    tried: list[Estimate] = []
    for each in documented_starts_of(snapshot, request.entry or "")[:_MOST_DOCUMENTED]:
        tried.append(_estimated(snapshot, _started(request, each), cards))
        if tried[-1].memory is not None:
            return (tried[-1],)
    return tuple(tried[:1])


def _started(request: Request, launch: Launch) -> Request:
    """The request for a start by a line of the repository; what the caller sets goes before what the line does."""
    devices = {} if launch.devices is None or "devices" in request.overrides else {"devices": launch.devices}
    overrides = {**request.overrides, **devices}
    return replace(request, overrides=overrides, arguments=launch.arguments, named=launch.settings, launcher=launch.options, started_at=str(launch))


def _estimated(snapshot: Snapshot, request: Request, cards: tuple[Gpu, ...]) -> Estimate:
    """One configuration."""
    played = play(snapshot, request, generation_of(cards))
    if isinstance(played, str):
        return _unresolved(request, cards, TrainingConfig(model=Unknown(played)), Mode.TRAINING, (played,))
    request, played = _with_sizes(snapshot, request, played, cards)
    unknowns = (*played.unknowns, *not_applied(played.config, request.overrides))
    if played.memory is None:
        unseen = isinstance(played.config.model, Unknown) and not any(".py:" in sentence for sentence in played.unknowns)
        return _unresolved(request, cards, played.config, played.mode, (_NOTHING_SEEN, *unknowns) if unseen else unknowns)
    found = Estimate(
        entry=request.entry or str(getattr(played.config.model, "value", request.model)),
        mode=played.mode,
        config=played.config,
        memory=played.memory,
        unknowns=unknowns,
        fits=fits(played.memory, played.config, cards),
        started_at=request.started_at,
    )
    return replace(found, remedies=_remedies(snapshot, request, found, cards))


def _with_sizes(snapshot: Snapshot, request: Request, played: Played, cards: tuple[Gpu, ...]) -> tuple[Request, Played]:
    """The run with the sizes that were asked for and that it does not show, if a global or an argument of the script holds them."""
    for size in ineffective_sizes(played.config, request.overrides):
        knobs = Knobs(snapshot, request, played.config)
        attempts = list(knobs.attempts(request, {size: request.overrides[size]}))
        for attempt in attempts[1:]:
            again = play(snapshot, attempt, generation_of(cards))
            if isinstance(again, Played) and not ineffective_sizes(again.config, {size: request.overrides[size]}):
                request, played = attempt, again
                break
    return request, played


def _unresolved(request: Request, cards: tuple[Gpu, ...], config: TrainingConfig, mode: Mode, unknowns: tuple[str, ...]) -> Estimate:
    """An estimate without numbers, which says what is missing."""
    verdicts = tuple(Fit(card.name, card.usable_bytes, Verdict.CANNOT_TELL) for card in cards)
    return Estimate(request.entry or str(request.model), mode, config, None, unknowns, verdicts, started_at=request.started_at)


def _remedies(snapshot: Snapshot, request: Request, found: Estimate, cards: tuple[Gpu, ...]) -> tuple[Remedy, ...]:
    """What would make it fit the first card that it does not fit, each tried by running it."""
    tight = next((card for card, each in zip(cards, found.fits, strict=True) if each.verdict is not Verdict.FITS), None)
    if tight is None or found.memory is None:
        return ()
    knobs = Knobs(snapshot, request, found.config)

    def rerun(overrides: Mapping[str, Any]) -> tuple[TrainingConfig, Memory] | None:
        return knobs.turn(overrides, lambda changed: _once(snapshot, changed, tight))

    others = tuple(card for card in gpus() if card.vendor == tight.vendor and card.usable_bytes > tight.usable_bytes)
    return remedies(found.config, found.memory, tight, rerun, cards=others)


def _once(snapshot: Snapshot, request: Request, card: Gpu) -> tuple[TrainingConfig, Memory] | None:
    played = play(snapshot, replace(request, gpus=(card.name,)), generation_of((card,)), both_ends=False)
    return None if isinstance(played, str) or played.memory is None else (played.config, played.memory)
