"""What the guest source of Lightning asks of the host."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, GuestDict, HostFunction, Instance, Symbol, Value
from estimator.library.language import domain_of

#: How a caller's precision is written for Lightning, and how Lightning's is written in a configuration.
_PRECISIONS = {"fp32": "32-true", "amp-bf16": "bf16-mixed", "amp-fp16": "16-mixed", "bf16": "bf16-true", "fp16": "16-true"}
#: Shorter ways to write a precision (Lightning 2.6, ``accelerator_connector.py``).
_SHORT = {"32": "32-true", "16": "16-mixed", "bf16": "bf16-mixed"}


def _hyperparameters(call: Call) -> Value:
    """``save_hyperparameters()``: the arguments of the constructor that calls it, or those that are named."""
    machine, (module, *names) = call.machine, call.args
    if names and isinstance(names[0], (dict, Instance)):
        return _held(call, dict(names[0] if isinstance(names[0], dict) else names[0].fields))
    frame = machine.here
    left_out = call.kwargs.get("ignore") or ()
    left_out = {left_out} if isinstance(left_out, str) else set(left_out)
    held: dict[str, Value] = {}
    for name, value in frame.vars.items():
        if isinstance(name, str) and value is not module and name != "__class__" and (not names or name in names) and name not in left_out:
            held.update(value if name == "kwargs" and isinstance(value, dict) else {name: value})
    return _held(call, held)


def _held(call: Call, values: dict[str, Value]) -> Value:
    """These values as the module's ``hparams``."""
    machine, module = call.machine, call.args[0]
    kind = machine.getattr(machine.import_module("lightning.pytorch", machine.entry_path), "Hyperparameters", call.span)
    machine.setattr(module, "hparams", machine.call(kind, [GuestDict(values)], {}, call.span), call.span)
    return None


def _lightning_built(call: Call) -> Value:
    """The precision of a trainer: what the caller sets, else its argument; the steps of accumulation are noted."""
    domain, (given, steps) = domain_of(call), call.args
    if isinstance(steps, int):
        domain.observed.fact("accumulation_steps", steps, domain.caller_place("accumulate_grad_batches"))
    override = domain.request.overrides.get("precision")
    if isinstance(override, str):
        return _PRECISIONS.get(override, "32-true")
    if isinstance(given, Symbol):
        domain.observed.assumed(f"{domain.caller_place('precision')}: precision is {domain.said(given)}, taken as 32-true; set it with --precision")
        return "32-true"
    written = _SHORT.get(str(given), str(given)) if given is not None else "32-true"
    known = next((name for name, precision in _PRECISIONS.items() if precision == written), None)
    if known is None:
        domain.lose(f"{domain.caller_place('precision')}: the precision {written} is not modelled")
        return "32-true"
    domain.observed.fact("precision", known, domain.caller_place("precision") if given is not None else None)
    return written


NAMES: dict[str, Any] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function) for function in (_hyperparameters, _lightning_built)
}
