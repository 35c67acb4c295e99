"""Estimates to test with: small round numbers that add up."""

from __future__ import annotations

from analysis.certainty import Known, Place
from estimator.config import TrainingConfig
from estimator.estimate import Components, Estimate, Fit, Holder, Interval, Memory, Mode

MIB = 1 << 20
GIB = 1 << 30


def config(**settings) -> TrainingConfig:
    stated = {"model": Known("gpt2", Place("train.py", 3)), "batch_size": Known(8, Place("train.py", 5)), "optimizer": Known("adamw")}
    return TrainingConfig(**(stated | settings))


def memory(peak: int = 10 * GIB, *, doubt: float = 0.0, **held: int) -> Memory:
    """A memory of ``peak`` bytes, of which whatever is not named are activations."""
    named = {"context": 450 * MIB} | held
    components = Components(**named, activations=peak - sum(named.values()))
    allocated = peak - components.context - components.fragmentation
    low, high = round(peak * (1 - doubt)), round(peak * (1 + doubt))
    return Memory(
        parameters=124,
        trainable_parameters=124,
        components=components,
        allocated_bytes=allocated,
        allocated_interval=Interval(allocated, allocated),
        peak_bytes=peak,
        interval=Interval(low, high),
        peak_at="backward",
        largest=(Holder(Place("model.py", 40), components.activations, "attention scores"),),
    )


def estimate(of: Memory | None = None, *, fits: tuple[Fit, ...] = (), unknowns: tuple[str, ...] = (), **settings) -> Estimate:
    return Estimate("train.py", Mode.TRAINING, config(**settings), of, unknowns=unknowns, fits=fits)
