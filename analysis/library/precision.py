"""Mixed precision: autocast regions and gradient scalers."""

from __future__ import annotations

from dataclasses import replace

from analysis.interpreter.values import MISSING, Call, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.optimizers import OPTIMIZER, STEPPED_BY, parameters_of
from analysis.library.recording import Modes, captured, emit, enabled, manager, restored
from analysis.library.tensor import Parameters, Tensor
from analysis.trace.events import Kind

SCALER = "torch.amp.GradScaler"
#: Of a framework's object: it scales each loss itself before the backward, and unscales in its own clipping and step.
SCALES = "precision: scales losses"

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch.cuda.amp import GradScaler, autocast

net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = GradScaler(enabled=True)
with autocast():
    loss = net(torch.zeros(1, 1)).mean()
scaler.scale(loss).backward()
scaler.unscale_(opt)
scaler.step(opt)
scaler.update()
""",
            ("forward Linear", "backward", "unscale GradScaler", "step SGD", "update GradScaler"),
        ),
    ),
)


def _autocast(call: Call, held: Modes) -> Modes:
    switch = call.kwargs.get("enabled", True)
    positional = next((value for value in call.args if isinstance(value, bool)), True)
    on = call.machine.truth(switch, call.span) is not False and positional
    return replace(held, autocast=on)


manager(SUBJECT, "torch.autocast", _autocast)
SUBJECT.alias("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
SUBJECT.alias("torch.autocast", "torch.amp.autocast_mode.autocast", "torch.cuda.amp.autocast_mode.autocast")

_SCALER = SUBJECT.cls(SCALER)
SUBJECT.alias(SCALER, "torch.cuda.amp.GradScaler", "torch.amp.grad_scaler.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")
SUBJECT.cls("torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler", SCALER)


@_SCALER.method("__init__")
def _init(call: Call) -> Value:
    call.args[0].fields["scaler: enabled"] = enabled(call, 99, "enabled")


@_SCALER.method("scale")
def _scale(call: Call) -> Value:
    scaler, loss = call.args[0], call.get(1, "outputs")
    made = domain_of(call).autograd.made("scale", (loss,), {"scaler": scaler})
    if not isinstance(loss, Tensor):  # the loss was not followed: its graph is unknown
        made.attached = True
    return made


@_SCALER.method("unscale_")
def _unscale(call: Call) -> Value:
    emit(call.machine, Kind.UNSCALE, subject=call.args[0], value=call.get(1, "optimizer"))


@_SCALER.method("step")
def _step(call: Call) -> Value:
    scaler, optimizer = call.args[0], call.get(1, "optimizer")
    if isinstance(optimizer, Symbol):
        optimizer.uses.add("stepped")
    if isinstance(optimizer, Instance) and not optimizer.cls.has_base(OPTIMIZER) and optimizer.cls.find("step") is not MISSING:
        call.machine.state[STEPPED_BY] = scaler  # an object of the repository's own, around an optimizer
        value = call.machine.call(call.machine.getattr(optimizer, "step", call.span), [], {}, call.span)
        call.machine.state.pop(STEPPED_BY)
        return value
    emit(call.machine, Kind.STEP, subject=optimizer, detail=scaler)
    return None


@_SCALER.method("update")
def _update(call: Call) -> Value:
    emit(call.machine, Kind.SCALER_UPDATE, subject=call.args[0])


@_SCALER.method("state_dict")
def _state(call: Call) -> Value:
    return captured(call, "a scaler")


@_SCALER.method("load_state_dict")
def _load(call: Call) -> Value:
    restored(call)


@_SCALER.method("get_scale", "is_enabled", "get_growth_factor", "get_backoff_factor", "get_growth_interval")
def _number(call: Call) -> Value:
    return domain_of(call).casting.symbol("the state of a scaler", call.span, call.machine.stamp)


@_SCALER.method("set_growth_factor", "set_backoff_factor", "set_growth_interval")
def _nothing(_call: Call) -> Value:
    return None


@SUBJECT.function("torch.amp.custom_fwd", "torch.amp.custom_bwd", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd")
def _same(call: Call) -> Value:
    return call.args[0] if call.args else HostFunction("decorator", lambda inner: inner.args[0])


@SUBJECT.function("apex.amp.initialize")
def _apex(call: Call) -> Value:
    """Apex gives back the models and optimizers that it was given."""
    models, optimizers = call.get(0, "models"), call.get(1, "optimizers")
    return models if optimizers is None else (models, optimizers)


_SCALED = SUBJECT.cls("apex.amp.scale_loss")


@_SCALED.method("__init__")
def _scale_loss(call: Call) -> Value:
    call.args[0].fields["loss"] = call.get(1, "loss")


@_SCALED.method("__enter__")
def _scaled_loss(call: Call) -> Value:
    return call.args[0].fields["loss"]


@_SCALED.method("__exit__")
def _unscaled(_call: Call) -> Value:
    """The gradients are unscaled when the block ends."""
    return None


@SUBJECT.function("apex.amp.master_params")
def _master(call: Call) -> Value:
    optimizer = call.args[0]
    if not isinstance(optimizer, Instance):
        return domain_of(call).casting.result(call, "parameters")
    return Parameters(domain_of(call).autograd, parameters_of(optimizer))
