"""What guest model libraries ask of the host: configurations from the catalog, batches of tokens, arguments that may be overridden."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, GuestRaise, HostFunction, Symbol, Value
from estimator.catalog import UnknownNameError, model
from estimator.tape.device import CPU
from estimator.tape.dtype import INT64
from estimator.tape.operations.creation import empty


def _catalog_config(call: Call) -> Value:
    """(family, numbers, dtype) of a named model; a name that is not in the catalog ends the script, with the sentence that says so."""
    name = call.args[0]
    domain = call.machine.state["domain"]
    if not isinstance(name, str):
        domain.observed.lost[f"{domain.caller_place()}: the name of the model is not known"] = None
        raise GuestRaise(Symbol("a model whose name is not known", call.span), call.span)
    try:
        found = model(name)
    except UnknownNameError as error:
        domain.observed.lost[f"{domain.caller_place()}: {error}"] = None
        raise GuestRaise(Symbol(str(error), call.span), call.span) from None
    return found.family, dict(found.config), found.dtype


def _named_model(call: Call) -> None:
    domain = call.machine.state["domain"]
    domain.observed.fact("model", call.args[0], domain.caller_place())


def _training_argument(call: Call) -> Value:
    name, given = call.args
    domain = call.machine.state["domain"]
    value = domain.request.overrides.get(name, given)
    parameter = {"batch_size": "per_device_train_batch_size", "accumulation_steps": "gradient_accumulation_steps"}[name]
    domain.observed.fact(name, value, domain.caller_place(parameter))
    return value


def _token_batch(call: Call) -> Value:
    """A tokenizer's result: with known texts a batch, with unknown ones a row; the length is ``max_length``, which padding fills."""
    text, padding, length, tensors = call.args
    domain = call.machine.state["domain"]
    override = domain.request.overrides.get("sequence_length")
    if override is not None:
        length = override
    place = domain.caller_place()
    if not isinstance(length, int):
        domain.observed.unknowns[f"{place}: the length of the tokenized texts is not known"] = None
        return Symbol("tokenized texts of unknown length", call.span)
    domain.observed.fact("sequence_length", length, place)
    if padding != "max_length":
        domain.observed.fact("assumed_sequence_length", length, place)
    rows = (len(text),) if isinstance(text, (list, tuple)) else (1,) if isinstance(text, str) and tensors is not None else ()
    return {name: empty(*rows, length, dtype=INT64, device=CPU) for name in ("input_ids", "attention_mask")}


def _row_of(call: Call) -> Value:
    """The columns that a ``map`` function adds to a row."""
    function, columns, _batched = call.args
    row = {**columns}
    example = Symbol("a row of the data set", call.span)
    example.parts.update({f"[{name!r}]": value for name, value in row.items()})
    made = call.machine.call(function, [example], {}, call.span)
    return made if isinstance(made, dict) else {}


NAMES: dict[str, Any] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function)
    for function in (_catalog_config, _named_model, _training_argument, _token_batch, _row_of)
}
