"""Wrappers around a model: DistributedDataParallel, FSDP, DataParallel, compile. One model stays one object."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.interpreter.values import Call, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, LibraryClass, Subject
from analysis.library.ownership import MODULE, WRAPPED, expect_module, owner_of
from analysis.library.recording import Modes, emit, manager, modes
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(torch.nn.Linear(1, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with net.no_sync():
    net(torch.zeros(1, 1)).sum().backward()
net.module.eval()
net = torch.compile(net)
""",
            ("wrap Linear", "optimizer_built SGD", "wrapped_forward Linear", "forward Linear", "backward", "eval Linear"),
        ),
        Example(
            """
import torch

net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
net.forward(torch.zeros(1, 1)).sum().backward()
""",
            ("wrap Linear", "wrapped_forward Linear", "forward Linear", "backward"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The detail of a WRAPPED_FORWARD: the kind of wrapper, the number of the forward call, and whether its backward averages gradients over ranks."""

    how: str
    forward: int
    averages: Value


#: The attribute of DistributedDataParallel that ``no_sync`` switches.
_AVERAGES = "require_backward_grad_sync"


def _without_sync(call: Call, held: Modes) -> Modes:
    return replace(held, no_sync=True, no_sync_at=call.span)


manager(SUBJECT, "unknown.NoSync", _without_sync)
manager(SUBJECT, "unknown.Join", lambda _call, held: replace(held, joined=True))


def _wrapper(dotted: str, how: str) -> LibraryClass:
    declared = SUBJECT.cls(dotted, MODULE)
    declared.namespace["wraps"] = True

    @declared.method("__init__")
    def init(call: Call) -> Value:
        wrapper, model = call.args[0], call.get(1, "module", call.kwargs.get("model"))
        expect_module(model)
        wrapper.fields.update({WRAPPED: model, "training": True, "wrapper: options": dict(call.kwargs)})
        if isinstance(model, Instance):
            emit(call.machine, Kind.WRAP, subject=owner_of(model), value=wrapper, detail=how)
        domain_of(call).ownership.changed()

    @declared.method("forward")
    def forward(call: Call) -> Value:
        wrapper, held = call.args[0], modes(call.machine)
        if held.forwarding is None:  # called by its name: it does what a call of the wrapper does, but for hooks
            return call.machine.call(wrapper, call.args[1:], dict(call.kwargs), call.span)
        if isinstance(wrapper.fields[WRAPPED], Instance):
            averages = not held.no_sync and wrapper.fields.get(_AVERAGES, True)
            emit(call.machine, Kind.WRAPPED_FORWARD, subject=owner_of(wrapper), value=wrapper, detail=Wrapped(how, held.forward, averages))
        return call.machine.call(wrapper.fields[WRAPPED], call.args[1:], dict(call.kwargs), call.span)

    @declared.method("__setattr__")
    def assign(call: Call) -> Value:
        """Whether to average may depend on how far the loop is in which it is set."""
        wrapper, name, value = call.args
        ended = domain_of(call).rehearsal.at_the_end(call.machine, value) if name == _AVERAGES and isinstance(value, Symbol) else None
        call.machine.heap.write(wrapper.fields, name, value if ended is None else ended)

    @declared.method("no_sync")
    def no_sync(call: Call) -> Value:
        return call.machine.construct(domain_of(call).library.cls("unknown.NoSync"), [], {}, call.span)

    @declared.method("join")
    def join(call: Call) -> Value:
        """Ranks that are done early go along with the collectives of the others: gradients are averaged as ever."""
        return call.machine.construct(domain_of(call).library.cls("unknown.Join"), [], {}, call.span)

    return declared


_wrapper("torch.nn.parallel.DistributedDataParallel", "ddp")
_wrapper("torch.nn.DataParallel", "dp")
_FSDP = _wrapper("torch.distributed.fsdp.FullyShardedDataParallel", "fsdp")
SUBJECT.alias("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel", "apex.parallel.DistributedDataParallel")
SUBJECT.alias("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.data_parallel.DataParallel")
SUBJECT.alias(
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    "fairscale.nn.FullyShardedDataParallel",
    "fairscale.nn.data_parallel.FullyShardedDataParallel",
)


_FSDP.namespace["gathers"] = True


@_FSDP.method("clip_grad_norm_")
def _clip(call: Call) -> Value:
    emit(call.machine, Kind.CLIP, subject=owner_of(call.args[0]), detail="fsdp")
    return domain_of(call).autograd.plain("norm")


#: Says of a module that ``fully_shard`` divided its parameters among the ranks.
_SHARDED = "parameters: sharded"
_WHOLE_STATES = "get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict set_optimizer_state_dict set_state_dict"
_STATES = "state_dict_type summon_full_params set_state_dict_type full_optim_state_dict optim_state_dict shard_full_optim_state_dict optim_state_dict_to_load"


@_FSDP.static(*_STATES.split())
def _state(call: Call) -> Value:
    emit(call.machine, Kind.COLLECTIVE, subject="FSDP's state dict", value=call.get(0, "model"))
    return domain_of(call).casting.symbol("a sharded state", call.span, call.machine.stamp)


@SUBJECT.function("torch.distributed._composable.fsdp.fully_shard", "torch.distributed.fsdp.fully_shard")
def _fully_shard(call: Call) -> Value:
    model = call.get(0, "module")
    if isinstance(model, Instance):
        call.machine.heap.write(model.fields, _SHARDED, True)  # noqa: FBT003  the field's value
        emit(call.machine, Kind.WRAP, subject=owner_of(model), value=model, detail="fsdp2")
    return model


@SUBJECT.function(*(f"torch.distributed.checkpoint.state_dict.{name}" for name in _WHOLE_STATES.split()))
def _whole_state(call: Call) -> Value:
    """Gathers what is sharded: every rank has to call it, whichever keeps the result."""
    model = call.get(0, "model")
    if isinstance(model, Instance) and (model.fields.get(_SHARDED) is True or model.cls.find("gathers") is True):
        emit(call.machine, Kind.COLLECTIVE, subject="distributed state dict", value=model)
    return domain_of(call).casting.symbol("a state", call.span, call.machine.stamp)


_COMPILERS = "torch.compile torch.jit.script torch.jit.trace torch.jit.ignore torch.jit.export torch.compiler.disable torch._dynamo.disable thunder.jit"


@SUBJECT.function(*_COMPILERS.split())
def _compile(call: Call) -> Value:
    """The same model or function, only faster; without one, a decorator."""
    target = call.get(0, "model", call.kwargs.get("obj"))
    return HostFunction("decorator", lambda inner: inner.args[0]) if target is None else target


@SUBJECT.function("torch.jit.is_scripting", "torch.jit.is_tracing", "torch.compiler.is_compiling", "torch._dynamo.is_compiling")
def _never(_call: Call) -> Value:
    return False
