"""Estimates as the JSON document of ``preflight estimate --format json``: bytes are integers, what is unresolved is null."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Unknown
from estimator.estimate import Components, Estimate, Holder, Interval, Memory

VERSION = 1


def document(estimates: Iterable[Estimate]) -> dict[str, Any]:
    """The whole document: ``version`` and one object per entry point and configuration, in the given order."""
    return {"version": VERSION, "estimates": [estimate_document(estimate) for estimate in estimates]}


def estimate_document(estimate: Estimate) -> dict[str, Any]:
    """One estimate as JSON values."""
    return {
        "entry": estimate.entry,
        "started_at": estimate.started_at,
        "mode": estimate.mode.value,
        "config": {name: _setting(value) for name, value in estimate.config.items()},
        **_memory(estimate.memory),
        "unknowns": list(estimate.unknowns),
        "fits": [{"gpu": fit.gpu, "usable_bytes": fit.usable_bytes, "verdict": fit.verdict.value} for fit in estimate.fits],
        "remedies": [asdict(remedy) for remedy in estimate.remedies],
    }


def _setting(setting: Certainty[Any]) -> dict[str, Any]:
    source = str(setting.because) if setting.because else None
    match setting:
        case Known(value=value):
            return {"value": value, "source": source, "certainty": "known"}
        case Assumed(value=value, why=why):
            return {"value": value, "source": source, "certainty": "assumed", "why": why}
        case Unknown(why=why):
            return {"value": None, "source": source, "certainty": "unknown", "why": why}


def _memory(memory: Memory | None) -> dict[str, Any]:
    if memory is None:
        names = ("parameters", "trainable_parameters", "allocated_bytes", "allocated_interval", "peak_bytes", "interval", "peak_at")
        return {**dict.fromkeys(names), "memory": dict.fromkeys(Components.__slots__), "largest": [], "phases": {}, "course": []}
    return {
        "parameters": memory.parameters,
        "trainable_parameters": memory.trainable_parameters,
        "memory": asdict(memory.components),
        "allocated_bytes": memory.allocated_bytes,
        "allocated_interval": _ends(memory.allocated_interval),
        "peak_bytes": memory.peak_bytes,
        "interval": _ends(memory.interval),
        "peak_at": memory.peak_at,
        "largest": [_holder(holder) for holder in memory.largest],
        "phases": dict(memory.phases),
        "course": list(memory.course),
    }


def _ends(interval: Interval) -> list[int]:
    return [interval.low, interval.high]


def _holder(holder: Holder) -> dict[str, Any]:
    return {"path": holder.place.path, "line": holder.place.line, "bytes": holder.bytes, "what": holder.what}
