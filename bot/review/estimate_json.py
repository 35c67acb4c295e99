"""Estimates as ``estimate --format json`` prints them, and back: the worker process answers in this form."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Place, Unknown
from bot.review.finding_json import Json
from estimator.config import TrainingConfig
from estimator.estimate import Components, Estimate, Fit, Holder, Interval, Memory, Mode, Remedy, Verdict

#: What stands in place of a memory that could not be told: the same keys, all null.
_NO_MEMORY: Json = {
    "parameters": None,
    "trainable_parameters": None,
    "memory": dict.fromkeys(component.name for component in fields(Components)),
    "allocated_bytes": None,
    "allocated_interval": None,
    "peak_bytes": None,
    "interval": None,
    "peak_at": None,
    "largest": [],
}


def estimate_to_json(estimate: Estimate) -> Json:
    """One entry of ``estimates``; byte fields are null where the model could not be resolved."""
    return {
        "entry": estimate.entry,
        "mode": estimate.mode.value,
        "config": {name: _certainty_to_json(value) for name, value in estimate.config.items()},
        **(_NO_MEMORY if estimate.memory is None else _memory_to_json(estimate.memory)),
        "unknowns": list(estimate.unknowns),
        "fits": [{"gpu": fit.gpu, "usable_bytes": fit.usable_bytes, "verdict": fit.verdict.value} for fit in estimate.fits],
        "remedies": [asdict(remedy) for remedy in estimate.remedies],
    }


def estimate_from_json(value: Json) -> Estimate:
    """The inverse of ``estimate_to_json``. Raises KeyError or ValueError where the form is not met."""
    return Estimate(
        entry=value["entry"],
        mode=Mode(value["mode"]),
        config=TrainingConfig(**{name: _certainty_from_json(field) for name, field in value["config"].items()}),
        memory=None if value["peak_bytes"] is None else _memory_from_json(value),
        unknowns=tuple(value["unknowns"]),
        fits=tuple(Fit(fit["gpu"], fit["usable_bytes"], Verdict(fit["verdict"])) for fit in value["fits"]),
        remedies=tuple(Remedy(**remedy) for remedy in value["remedies"]),
    )


def _memory_to_json(memory: Memory) -> Json:
    return {
        "parameters": memory.parameters,
        "trainable_parameters": memory.trainable_parameters,
        "memory": asdict(memory.components),
        "allocated_bytes": memory.allocated_bytes,
        "allocated_interval": [memory.allocated_interval.low, memory.allocated_interval.high],
        "peak_bytes": memory.peak_bytes,
        "interval": [memory.interval.low, memory.interval.high],
        "peak_at": memory.peak_at,
        "largest": [{"path": holder.place.path, "line": holder.place.line, "bytes": holder.bytes, "what": holder.what} for holder in memory.largest],
    }


def _memory_from_json(value: Json) -> Memory:
    return Memory(
        parameters=value["parameters"],
        trainable_parameters=value["trainable_parameters"],
        components=Components(**value["memory"]),
        allocated_bytes=value["allocated_bytes"],
        allocated_interval=Interval(*value["allocated_interval"]),
        peak_bytes=value["peak_bytes"],
        interval=Interval(*value["interval"]),
        peak_at=value["peak_at"],
        largest=tuple(Holder(Place(holder["path"], holder["line"]), holder["bytes"], holder["what"]) for holder in value["largest"]),
    )


def _certainty_to_json(value: Certainty[Any]) -> Json:
    """``why`` is the sentence beside an assumed or unknown value, null where the source tells it."""
    source = None if value.because is None else str(value.because)
    match value:
        case Known(known):
            return {"value": known, "source": source, "certainty": "known", "why": None}
        case Assumed(assumed, why):
            return {"value": assumed, "source": source, "certainty": "assumed", "why": why}
        case Unknown(why):
            return {"value": None, "source": source, "certainty": "unknown", "why": why}


def _certainty_from_json(value: Json) -> Certainty[Any]:
    because = None if value["source"] is None else _place(value["source"])
    match value["certainty"]:
        case "known":
            return Known(value["value"], because)
        case "assumed":
            return Assumed(value["value"], value["why"], because)
        case "unknown":
            return Unknown(value["why"], because)
        case other:
            raise ValueError(f"certainty is known, assumed or unknown, not {other!r}")


def _place(text: str) -> Place:
    path, _, line = text.rpartition(":")
    return Place(path, int(line))
