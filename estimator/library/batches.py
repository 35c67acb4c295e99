"""What guest library code asks of the host: batches made of one sample, and notes of what was configured where."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from estimator.library.arrays import Array
from estimator.tape.device import CPU
from estimator.tape.dtype import FLOAT32, INT64
from estimator.tape.operations.creation import empty
from estimator.tape.tensor import Tensor


def batched(sample: Any, size: int) -> Any:
    """``size`` equal samples put together as the default collate function does: a new first dimension on every tensor."""
    match sample:
        case Tensor():
            return empty(size, *sample.shape, dtype=sample.dtype, device=CPU)
        case Array():
            return empty(size, *sample.shape, dtype=sample.dtype, device=CPU)
        case bool() | int():
            return empty(size, dtype=INT64, device=CPU)
        case float():
            return empty(size, dtype=FLOAT32, device=CPU)
        case dict():
            return {key: batched(value, size) for key, value in sample.items()}
        case tuple():
            return tuple(batched(value, size) for value in sample)
        case list():
            return [batched(value, size) for value in sample]
        case str():
            return [sample] * size
    return sample


def _loader_built(call: Call) -> Value:
    """A loader's batch size: the caller's override goes before what the source says."""
    domain = call.machine.state["domain"]
    given = call.args[0]
    override = domain.request.overrides.get("batch_size")
    place = domain.caller_place("batch_size")
    size = override if override is not None and given is not None else given
    if isinstance(size, Symbol):
        domain.observed.unknowns[f"{place}: the batch size {size!r} is not known, taken as 1"] = None
        size = 1
    domain.observed.fact("batch_size", size, place)
    return size


NAMES: dict[str, Any] = {"preflight_host.batched": batched, "preflight_host.loader_built": HostFunction("loader_built", _loader_built)}
