"""What the guest sources of ``transformers``, ``accelerate`` and ``peft`` ask of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from analysis.interpreter.values import MISSING, Call, Class, Function, GuestDict, HostFunction, Instance, Method, Symbol, Value
from estimator.library.dataclass import fields_of
from estimator.library.language import domain_of
from estimator.library.patterns import may_be_tried
from estimator.tape.dtype import BFLOAT16, FLOAT16, FLOAT32
from estimator.tape.events import rounded
from estimator.tape.operations.conversion import to
from estimator.tape.tensor import Tensor

#: Keyword of a training argument to the field of the configuration that it sets.
_ARGUMENTS = {"per_device_train_batch_size": "batch_size", "gradient_accumulation_steps": "accumulation_steps", "gradient_checkpointing": "checkpointing"}
#: The layers that LoRA adapts where it is not told, by family (peft 0.21.2, ``utils/constants.py``).
_LORA_TARGETS = {
    "gpt2": ["c_attn"], "bert": ["query", "value"], "roberta": ["query", "value"], "distilbert": ["q_lin", "v_lin"], "t5": ["q", "v"],
    "debertav2": ["query_proj", "value_proj"], "phi3": ["qkv_proj"], "gptneox": ["query_key_value"],
}  # fmt: skip
_LINEAR_DECODER = ["q_proj", "v_proj"]


def _override(call: Call) -> Value:
    """What the caller sets for a field of the configuration; None where nothing is."""
    return domain_of(call).request.overrides.get(call.args[0])


def _default_load_dtype(call: Call) -> Value:
    """The type that ``from_pretrained`` loads in where it is not told: float32 before transformers 5 (float16 where it packs), the stored one since."""
    stored, packs = call.args
    domain = domain_of(call)
    if packs:
        return {"bfloat16": BFLOAT16, "float32": FLOAT32}.get(stored, FLOAT16) if domain.pinned("transformers") >= (5,) else FLOAT16
    if stored in {"float32", None}:
        return FLOAT32
    if domain.pinned("transformers") >= (5,):
        return {"bfloat16": BFLOAT16, "float16": FLOAT16}.get(stored, FLOAT32)
    if not domain.pinned("transformers"):
        why = f"no dtype is given: transformers before version 5 loads float32, later versions the {stored} of the published weights; float32 is taken"
        domain.observed.fact("assumed_precision", ("fp32", why), None)
    return FLOAT32


def _trainer_arguments(call: Call) -> Value:
    """Note what a trainer's arguments configure, and put the caller's overrides in their place."""
    domain, arguments = domain_of(call), call.args[0].fields
    for name, field in _ARGUMENTS.items():
        override = domain.request.overrides.get(field)
        if override is not None:
            arguments[name] = override
        domain.observed.fact(field, arguments[name], None if override is not None else domain.caller_place(name))
    if isinstance(arguments["per_device_train_batch_size"], Symbol):
        said = domain.said(arguments["per_device_train_batch_size"])
        domain.observed.assumed(f"{domain.caller_place('per_device_train_batch_size')}: the batch size is {said}, taken as 1; set it with --batch-size")
        arguments["per_device_train_batch_size"] = 1
    precision = domain.request.overrides.get("precision")
    if precision is not None:
        arguments["bf16"], arguments["fp16"] = precision == "amp-bf16", precision == "amp-fp16"
    return None


def _accepts(call: Call) -> Value:
    """Whether the forward of a model has a parameter of that name, or takes any ("**")."""
    node = _forward_of(call)
    return node is not None and (node.args.kwarg is not None if call.args[1] == "**" else call.args[1] in {arg.arg for arg in node.args.args})


def _parameter_names(call: Call) -> Value:
    """The parameters of a model's forward."""
    node = _forward_of(call)
    return [] if node is None else [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]


def _forward_of(call: Call) -> Any:
    model = call.args[0]
    while isinstance(model, Instance):
        inner = next((model.fields["_modules"][name] for name in ("base_model",) if name in model.fields.get("_modules", {})), None)
        if inner is None or "model" not in getattr(inner, "fields", {}).get("_modules", {}):
            break
        model = inner.fields["_modules"]["model"]
    found = model.fields.get("forward", model.cls.find("forward")) if isinstance(model, Instance) else MISSING
    found = found.function if isinstance(found, Method) else found
    return found.node if isinstance(found, Function) else None


def _open_data_set(call: Call) -> Value:
    """Whether a data set is a table of the ``datasets`` library, of which a trainer passes on what the model takes."""
    return isinstance(call.args[0], Instance) and any(cls.dotted == "datasets.Dataset" for cls in call.args[0].cls.mro)


def _accelerator_built(call: Call) -> Value:
    """The precision of an accelerator: its argument, else what the caller sets, else none."""
    domain, (given, steps) = domain_of(call), call.args
    if isinstance(steps, int):
        domain.observed.fact("accumulation_steps", steps, domain.caller_place("gradient_accumulation_steps"))
    override = domain.request.overrides.get("precision")
    if isinstance(override, str):
        return override.removeprefix("amp-") if override.startswith("amp-") else "no"
    if isinstance(given, Symbol):
        domain.observed.assumed(f"{domain.caller_place('mixed_precision')}: mixed_precision is {domain.said(given)}, taken as none; set it with --precision")
        return "no"
    if given in {"bf16", "fp16"}:
        domain.observed.fact("precision", f"amp-{given}", domain.caller_place("mixed_precision"))
    return "no" if given is None else given


def _converted_to_fp32(call: Call) -> Value:
    """A model's results with every half-precision tensor in float32, as ``accelerate`` hands them out."""
    return _converted(call.args[0])


def _converted(value: Any) -> Any:
    match value:
        case Tensor():
            return to(value, FLOAT32) if value.dtype in {FLOAT16, BFLOAT16} else value
        case tuple():
            return tuple(_converted(item) for item in value)
        case list():
            return [_converted(item) for item in value]
        case Instance() if "_names" in value.fields:
            made = Instance(value.cls, value.span, value.stamp)
            made.fields.update({name: _converted(item) for name, item in value.fields.items()})
            return made
        case dict():
            return GuestDict({name: _converted(item) for name, item in value.items()})
    return value


def _handed_out(call: Call) -> Value:
    """A library's loop hands out a model's results: how long it holds them itself is in doubt."""
    storages = [value.storage for value in _tensors_in(call.args[0])]
    domain_of(call).observed.handed_out = {each.key: rounded(each.size) for each in storages if each.key is not None}
    return call.args[0]


def _tensors_in(value: Any) -> Iterator[Tensor]:
    match value:
        case Tensor():
            yield value
        case tuple() | list():
            for item in value:
                yield from _tensors_in(item)
        case dict():
            yield from _tensors_in(list(value.values()))
        case Instance() if "_names" in value.fields:
            yield from _tensors_in([value.fields[name] for name in value.fields["_names"]])


def _lora_targets(call: Call) -> Value:
    """The layers that LoRA adapts in a model of this configuration."""
    names = {cls.name.removesuffix("Config").lower() for cls in call.args[0].cls.mro} if isinstance(call.args[0], Instance) else set()
    return next((targets for name, targets in _LORA_TARGETS.items() if name in names), _LINEAR_DECODER)


def _matches_name(call: Call) -> Value:
    """``re.fullmatch`` of a layer's name."""
    pattern, name = call.args
    if not may_be_tried(pattern, name):
        domain_of(call).lose(f"{domain_of(call).caller_place()}: which layers the pattern {pattern!r:.60} matches is not worked out")
        return False
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return False


def _not_modelled(call: Call) -> Value:
    """Something of a library that changes what the model holds, and that nothing here knows."""
    domain = domain_of(call)
    domain.lose(f"{domain.caller_place()}: {call.args[0]} is not modelled yet")
    return None


def _noted(call: Call) -> Value:
    """A field of the configuration is said by a call of a library."""
    domain_of(call).observed.fact(call.args[0], call.args[1], domain_of(call).caller_place())
    return None


def _noted_argument(call: Call) -> Value:
    """A field of the configuration is said by a keyword that a library's function collected."""
    field, value, keywords, names = call.args
    domain = domain_of(call)
    spans = (call.machine.place_of(keywords, name) for name in names if name in keywords)
    span = next((span for span in spans if span is not None and domain.is_own(span)), None)
    domain.observed.fact(field, value, domain.caller_place() if span is None else domain.place(span))
    return None


def _generated(call: Call) -> Value:
    """Tokens are generated."""
    domain = domain_of(call)
    domain.observed.generated = True
    domain.observed.fact("new_tokens", call.args[0], domain.caller_place())
    return None


def _filled_dataclass(call: Call) -> Value:
    """An object of a dataclass with what the caller sets, what a document holds, and the defaults."""
    machine, (cls, document) = call.machine, call.args
    given = {**(document if isinstance(document, dict) else {}), **machine.state["arguments"]}
    names = fields_of(cls)
    machine.state.setdefault("asked", set()).update(names)
    built_on = isinstance(cls, Class) and any("fields" not in owner.metadata and "__init__" in owner.namespace for owner in cls.mro)
    accepted = {name: value for name, value in given.items() if name in names or not names or built_on}
    return machine.call(cls, [], accepted, call.span)


NAMES: dict[str, Any] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function)
    for function in (
        _override, _default_load_dtype, _trainer_arguments, _accepts, _parameter_names, _open_data_set,
        _accelerator_built, _converted_to_fp32, _handed_out, _lora_targets, _matches_name, _not_modelled, _noted, _noted_argument, _generated,
        _filled_dataclass,
    )
}  # fmt: skip
