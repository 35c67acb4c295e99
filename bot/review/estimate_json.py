"""Estimates read back from the JSON of ``estimator.report``: the worker process answers in this form."""

from __future__ import annotations

from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Place, Unknown
from bot.review.finding_json import Json
from estimator.config import TrainingConfig
from estimator.estimate import Components, Estimate, Fit, Holder, Interval, Memory, Mode, Remedy, Verdict


def estimate_from_json(value: Json) -> Estimate:
    """The inverse of ``estimator.report.estimate_document``. Raises KeyError or ValueError where the form is not met."""
    return Estimate(
        entry=value["entry"],
        mode=Mode(value["mode"]),
        config=TrainingConfig(**{name: _certainty_from_json(field) for name, field in value["config"].items()}),
        memory=None if value["peak_bytes"] is None else _memory_from_json(value),
        unknowns=tuple(value["unknowns"]),
        fits=tuple(Fit(fit["gpu"], fit["usable_bytes"], Verdict(fit["verdict"])) for fit in value["fits"]),
        remedies=tuple(Remedy(**remedy) for remedy in value["remedies"]),
    )


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
        phases=tuple(value.get("phases", {}).items()),
        course=tuple(value.get("course", ())),
    )


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
