"""Backward, gradients on request, clipping, and the context managers that switch recording on and off."""

from __future__ import annotations

from dataclasses import replace

from analysis.interpreter.values import Call, HostFunction, Instance, Value
from analysis.library.casting import Castable
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.optimizers import owners_in
from analysis.library.ownership import modules_in
from analysis.library.recording import BEFORE, Modes, bare_decorator, emit, enabled, manager, modes, set_modes
from analysis.library.tensor import Parameters, Tensor, tensors_in
from analysis.trace.events import Kind

_MOST_ANCESTORS = 300

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch import nn

net = nn.Linear(2, 1)

@torch.no_grad()
def evaluate(x):
    return net(x).mean()

assert not evaluate(torch.zeros(1, 2)).requires_grad
x = torch.zeros(1, 2).requires_grad_(True)
(g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
loss = g.square().mean()
loss.backward(retain_graph=True)
nn.utils.clip_grad_norm_(net.parameters(), 1.0)
""",
            ("forward Linear", "forward Linear", "autograd.grad", "backward", "clip Linear"),
        ),
        Example(
            """
import torch

net = torch.nn.Linear(2, 1)
for on in (True, False, True):
    with torch.set_grad_enabled(on):
        loss = net(torch.zeros(1, 2)).mean()
    assert loss.requires_grad is on
    assert torch.is_grad_enabled()
torch.set_grad_enabled(False)
assert not net(torch.zeros(1, 2)).requires_grad
net.eval()
""",
            ("forward Linear", "forward Linear", "forward Linear", "forward Linear", "eval Linear"),
        ),
    ),
)


def backward(call: Call, loss: Value, by: Value = None) -> None:
    """Gradients flow from ``loss`` into what its graph reaches; ``by``: the scaler, accelerator or engine that runs it."""
    options = {key: value for key, value in call.kwargs.items() if key not in {"loss", "self"}}
    for tensor in list(tensors_in(loss)) or [_unknown(call)]:
        if domain_of(call).world.collecting:
            _note_symbols(tensor)
        emit(call.machine, Kind.BACKWARD, subject=by, value=tensor, detail=options)


def _note_symbols(loss: Tensor) -> None:
    """Where nothing in the graph is known to have parameters, what unknown values in it came from has some; else what its modules hold and apply."""
    held = {id(value) for owner in loss.owners if isinstance(owner, Instance) for module in modules_in(owner) for value in module.fields.values()}
    todo, seen = [loss], {loss}
    while todo and len(seen) < _MOST_ANCESTORS:
        made = todo.pop().made
        given = () if made is None else (*made.inputs, *made.options.values())
        for value in given:
            applied = value.callee if isinstance(value, Castable) and value.callee is not None else value
            if isinstance(value, Castable) and (not loss.owners or id(applied) in held):
                value.differentiated()
        before = [tensor for tensor in tensors_in(given) if tensor not in seen]
        seen.update(before)
        todo.extend(before)


def _unknown(call: Call) -> Tensor:
    """A loss that was not followed: its graph is unknown."""
    loss = domain_of(call).autograd.made("unknown", ())
    loss.attached = True
    return loss


@SUBJECT.function("torch.Tensor.backward")
def _backward(call: Call) -> Value:
    backward(call, call.args[0])


@SUBJECT.function("torch.autograd.backward")
def _backward_of(call: Call) -> Value:
    backward(call, call.get(0, "tensors"))


@SUBJECT.function("torch.autograd.grad")
def _grad(call: Call) -> Value:
    outputs, inputs = call.get(0, "outputs"), call.get(1, "inputs")
    autograd = domain_of(call).autograd
    emit(call.machine, Kind.GRADIENT_CALL, value=next(tensors_in(outputs), None), detail=inputs)
    keeps = call.kwargs.get("create_graph") is True
    wanted = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    return tuple(autograd.made("gradient", (outputs, each), cut=not keeps) for each in wanted)


@SUBJECT.function("torch.autograd.functional.jacobian", "torch.autograd.functional.hessian", "torch.autograd.gradcheck")
def _jacobian(call: Call) -> Value:
    return domain_of(call).autograd.made("gradient", tuple(call.args[1:]))


@SUBJECT.function("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_norm", "torch.nn.utils.clip_grad.clip_grad_norm_")
def _clip_norm(call: Call) -> Value:
    return _clip(call, "max_norm")


@SUBJECT.function("torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grad.clip_grad_value_")
def _clip_value(call: Call) -> Value:
    return _clip(call, "clip_value")


def _clip(call: Call, limit: str) -> Value:
    """Scales the gradients of the given parameters; the detail holds the limit by its name."""
    given = call.get(0, "parameters")
    if not isinstance(given, (Parameters, Tensor, list, dict)) and given is not None:
        given = call.machine.items(given, call.span)
    owners = tuple(dict.fromkeys(owners_in(given)))
    subject = owners[0] if len(owners) == 1 else owners
    emit(call.machine, Kind.CLIP, subject=subject, value=Parameters(domain_of(call).autograd, owners), detail={limit: call.get(1, limit)})
    return domain_of(call).autograd.plain("norm")


def _without_grad(_call: Call, held: Modes) -> Modes:
    return replace(held, grad=False)


def _with_grad(_call: Call, held: Modes) -> Modes:
    return replace(held, grad=True)


def _inference(call: Call, held: Modes) -> Modes:
    return replace(held, grad=False, inference=True) if enabled(call, 0, "mode") else held


def _set_grad(call: Call, held: Modes) -> Modes:
    return replace(held, grad=enabled(call, 0, "mode"))


for _name, _change in (("no_grad", _without_grad), ("enable_grad", _with_grad), ("inference_mode", _inference), ("set_grad_enabled", _set_grad)):
    manager(SUBJECT, f"torch.grad_mode.{_name}", _change)


def _instance(call: Call, name: str) -> Instance:
    cls = domain_of(call).library.cls(f"torch.grad_mode.{name}")
    made: Instance = call.machine.construct(cls, [arg for arg in call.args if isinstance(arg, bool) or not callable(arg)], dict(call.kwargs), call.span)
    return made


def _maker(name: str) -> HostFunction:
    return bare_decorator(f"torch.{name}", lambda call: _instance(call, name))


for _name in ("no_grad", "enable_grad", "inference_mode"):
    SUBJECT.values[f"torch.{_name}"] = _maker(_name)
    SUBJECT.alias(f"torch.{_name}", f"torch.autograd.{_name}", f"torch.autograd.grad_mode.{_name}")


@SUBJECT.function("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled")
def _set_grad_enabled(call: Call) -> Value:
    """Takes effect at once; used in a ``with`` statement it is undone at the end."""
    instance = _instance(call, "set_grad_enabled")
    instance.fields[BEFORE] = set_modes(call.machine, replace(modes(call.machine), grad=enabled(call, 0, "mode")))
    return instance


@SUBJECT.function("torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly")
def _anomaly(call: Call) -> Value:
    return domain_of(call).casting.symbol("anomaly detection", call.span, ())


_FUNCTION = SUBJECT.cls("torch.autograd.Function")
SUBJECT.alias("torch.autograd.Function", "torch.autograd.function.Function")


@_FUNCTION.static("apply")
def _apply(call: Call) -> Value:
    """A function with a backward of its own: its result carries the graph of its inputs."""
    return domain_of(call).autograd.made("apply", tuple(call.args), call.kwargs)


@SUBJECT.function("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")
def _checkpoint(call: Call) -> Value:
    function, *args = call.args
    options = {"use_reentrant", "preserve_rng_state", "determinism_check", "debug", "context_fn", "early_stop"}
    return call.machine.call(function, args, {key: value for key, value in call.kwargs.items() if key not in options}, call.span)


SUBJECT.values["torch.autograd.Variable"] = HostFunction("torch.autograd.Variable", lambda call: call.args[0])
