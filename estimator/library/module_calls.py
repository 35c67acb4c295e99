"""What every module of a model does most, in the host: attributes, the call, and walks that change each part. The guest's own methods do the rest."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, Instance, Value
from estimator.tape.attributes import get_attribute, init_module, set_attribute
from estimator.tape.events import Kind
from estimator.tape.run import current

_BASE = "torch.nn.modules.module.Module"


def _called(call: Call) -> Value:
    """``Module.__call__``: the arguments are held while ``forward`` runs, as PyTorch's own frame holds them."""
    machine, args, kwargs, span = call.machine, call.args, call.kwargs, call.span
    module = args.pop(0)
    held = (tuple(args), dict(kwargs))
    tape = current()
    tape.enter_module(module, *held)
    hooked = module.fields["_forward_hooks"] or module.fields["_forward_pre_hooks"]
    name = "_call_with_hooks" if hooked else "forward"
    try:
        return machine.call(machine.getattr(module, name, span), args, kwargs, span)
    finally:
        tape.leave_module()  # by an error that the program catches, too


def _trained(call: Call) -> Value:
    """``Module.train``: parts that have a ``train`` of their own are asked."""
    module, mode = call.args[0], call.get(1, "mode")
    _set_mode(call, module, True if mode is None else mode)
    return module


def _set_mode(call: Call, module: Instance, mode: Value) -> None:
    module.fields["training"] = mode
    for child in list(module.fields["_modules"].values()):
        if not isinstance(child, Instance):
            continue
        owner = next((cls for cls in child.cls.mro if "train" in cls.namespace), None)
        if owner is not None and owner.dotted == _BASE:
            _set_mode(call, child, mode)
        else:
            call.machine.call(call.machine.getattr(child, "train", call.span), [mode], {}, call.span)


def _applied(call: Call) -> Value:
    """``Module._apply``: every parameter, its gradient and every buffer through a function; parts that have an ``_apply`` of their own are asked."""
    module, function = call.args[0], call.get(1, "function")
    _apply(call, module, function)
    return module


def _apply(call: Call, module: Instance, function: Value) -> None:
    machine, span = call.machine, call.span
    for child in list(module.fields["_modules"].values()):
        if not isinstance(child, Instance):
            continue
        owner = next((cls for cls in child.cls.mro if "_apply" in cls.namespace), None)
        if owner is not None and owner.dotted == _BASE:
            _apply(call, child, function)
        else:
            machine.call(machine.getattr(child, "_apply", span), [function], {}, span)
    with current().gradients(enabled=False):
        for parameter in module.fields["_parameters"].values():
            if parameter is not None:
                parameter.data = machine.call(function, [parameter], {}, span)
                if parameter.grad is not None:
                    parameter.grad = machine.call(function, [parameter.grad], {}, span)
    buffers = module.fields["_buffers"]
    for name, buffer in list(buffers.items()):
        if buffer is not None:
            buffers[name] = machine.call(function, [buffer], {}, span).became(Kind.BUFFERS)


def _made(call: Call) -> Value:
    """``Module.__init__``."""
    init_module(call.args[0])
    return None


def _attribute_set(call: Call) -> Value:
    set_attribute(*call.args)
    return None


def _attribute(call: Call) -> Value:
    return get_attribute(*call.args)


NAMES: dict[str, Any] = {
    f"torch._C.{name}": HostFunction(f"torch._C.{name}", run)
    for name, run in {
        "_set_attribute": _attribute_set,
        "_get_attribute": _attribute,
        "_call_module": _called,
        "_train_module": _trained,
        "_apply_module": _applied,
        "_init_module": _made,
    }.items()
}
