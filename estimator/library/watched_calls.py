"""Calls of PyTorch that say something of the configuration: seen on their way to the tape."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, Instance, Symbol, Value
from estimator.library.language import domain_of
from estimator.script.optimizer_options import options_of_optimizer
from estimator.script.watching import watch_step
from estimator.tape import facade
from estimator.tape.operations.gradients import enter_autocast, enter_phase
from estimator.tape.tensor import Parameter


def _optimizer_built(call: Call) -> Value:
    """An optimizer is made: its variant may be the caller's choice."""
    domain, (name, defaults) = domain_of(call), call.args
    options_of_optimizer(domain, defaults)
    return domain.tape.optimizer(name, defaults, domain.here(call.span))


def _entered_autocast(call: Call) -> Value:
    """A region of autocast begins: the line is where the precision is said."""
    domain, (device, dtype, enabled, cache) = domain_of(call), call.args
    if device == "cuda" and enabled is True:
        name = "fp16" if dtype is None or dtype.name == "float16" else "bf16"
        domain.observed.fact("precision", f"amp-{name}", domain.here(call.span))
    return enter_autocast(device, dtype, enabled, cache)


def _entered_phase(call: Call) -> Value:
    """An optimizer's step begins: whose parameters are not known, of that the state is not."""
    frame = call.machine.frame
    if call.args[0] == "optimizer_step" and frame is not None:
        optimizer = frame.vars.get("self", frame.cells.get("self", {}).get("value"))
        groups = optimizer.fields.get("param_groups", ()) if isinstance(optimizer, Instance) else ()
        held: list[Any] = [group.get("params", ()) for group in groups if isinstance(group, dict)] if isinstance(groups, list) else [groups]
        if any(isinstance(params, Symbol) or any(isinstance(each, Symbol) for each in params) for params in held):
            domain_of(call).lose(f"{domain_of(call).here(call.span)}: which parameters the optimizer holds is not known")
        elif isinstance(optimizer, Instance):
            watch_step(domain_of(call), [each for params in held for each in params if isinstance(each, Parameter)])
    return enter_phase(call.args[0])


def _attention(call: Call) -> Value:
    """PyTorch's own attention is called: the line is where the implementation is said."""
    domain = domain_of(call)
    if "attention" not in domain.observed.facts:
        domain.observed.fact("attention", "sdpa", domain.here(call.span))
    return _SDPA(*call.args, **call.kwargs)


_SDPA: Any = facade.NAMES["torch.nn.functional.scaled_dot_product_attention"]
NAMES: dict[str, Any] = {
    "torch.nn.functional.scaled_dot_product_attention": HostFunction("scaled_dot_product_attention", _attention),
    "torch._C._optimizer_built": HostFunction("torch._C._optimizer_built", _optimizer_built),
    "torch._C._enter_phase": HostFunction("torch._C._enter_phase", _entered_phase),
    "torch._C._enter_autocast": HostFunction("torch._C._enter_autocast", _entered_autocast),
}
