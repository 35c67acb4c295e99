"""What guest library code asks of the host: batches made of one sample, and a loader's batch size."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Alternatives, Call, GuestDict, GuestList, HostFunction, Instance, Symbol, Value
from estimator.library.arrays import Array
from estimator.library.images import Image, tensor_of
from estimator.library.language import domain_of, tensor_of_tokens
from estimator.library.symbols import Number
from estimator.library.tokens import Tokens
from estimator.tape.device import CPU
from estimator.tape.dtype import FLOAT32, INT64
from estimator.tape.operations.creation import empty
from estimator.tape.tensor import Tensor


def _batched(call: Call) -> Value:
    """``size`` equal samples put together as the default collate function does: a new first dimension on every tensor."""
    sample, size = call.args
    return batch_of(call, sample, size)


def batch_of(call: Call, sample: Any, size: int) -> Any:
    """One sample, ``size`` times."""
    match sample:
        case Tensor() | Array():
            return empty(size, *sample.shape, dtype=sample.dtype, device=CPU)
        case Tokens():
            return tensor_of_tokens(domain_of(call), sample, (size,))
        case Image():
            return batch_of(call, tensor_of(call, sample), size)
        case bool() | int():
            return empty(size, dtype=INT64, device=CPU)
        case float():
            return empty(size, dtype=FLOAT32, device=CPU)
        case dict():
            return GuestDict({key: batch_of(call, value, size) for key, value in sample.items()})
        case tuple():
            return tuple(batch_of(call, value, size) for value in sample)
        case list():
            return GuestList(batch_of(call, value, size) for value in sample)
        case str():
            return GuestList([sample] * size)
        case Alternatives(values=values) if all(isinstance(each, int) for each in values):
            return batch_of(call, values[0], size)
        case Instance():
            return _of_instance(call, sample, size)
        case Number():
            return empty(size, dtype=FLOAT32 if sample.why.startswith("float") else INT64, device=CPU)
        case Symbol():
            return _of_unknown(call, sample, size)
    return sample


def _of_instance(call: Call, sample: Instance, size: int) -> Any:
    """Guest dicts are put together value by value; other objects stay themselves."""
    if not any(cls.name in {"dict", "OrderedDict", "UserDict"} for cls in sample.cls.mro):
        return sample
    names = call.machine.items(call.machine.call(call.machine.getattr(sample, "keys", call.span), [], {}, call.span))
    return GuestDict({name: batch_of(call, call.machine.getitem(sample, name, call.span), size) for name in names})


def _of_unknown(call: Call, sample: Symbol, size: int) -> Any:
    """A window of known length in data of which nothing else is known is taken as a row of token numbers; of all else there are so many."""
    length = sample.parts.get(".__len__()")
    if not isinstance(length, int):
        many = Symbol(sample.why, sample.span, sample.stamp)
        many.source, many.parts[".__len__()"] = sample, size
        return many
    why = f"the data set hands out {domain_of(call).said(sample)}: taken as rows of {length} token numbers"
    return tensor_of_tokens(domain_of(call), Tokens(length, why), (size,))


def _loader_built(call: Call) -> Value:
    """A loader's batch size: the caller's override goes before what the source says."""
    domain = domain_of(call)
    given = call.args[0]
    place = domain.caller_place("batch_size")
    override = domain.request.overrides.get("batch_size")
    size = override if override is not None and given is not None else given
    if isinstance(size, Symbol):
        domain.observed.assumed(f"{place}: the batch size is {domain.said(size)}, taken as 1; set it with --batch-size")
        domain.observed.fact("assumed_batch_size", (1, f"it is {domain.said(size)}"), place)
        size = 1
    domain.observed.fact("batch_size", size, None if override is not None else place)
    return size


NAMES: dict[str, Any] = {
    "preflight_host.batched": HostFunction("batched", _batched),
    "preflight_host.loader_built": HostFunction("loader_built", _loader_built),
}
