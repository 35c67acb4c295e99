"""Hugging Face Accelerate: who divides the loss, when a step really happens, and what all processes do together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from analysis.interpreter.values import Call, HostFunction, Instance, Symbol, Value
from analysis.library.distributed import alike, is_main, on_main, rank
from analysis.library.domain import domain_of
from analysis.library.gradients import backward
from analysis.library.knowledge import Example, Handler, Subject
from analysis.library.loading import LOADER, SHARDS
from analysis.library.optimizers import OPTIMIZER, PREPARED, SYNCHRONISES, owners_in
from analysis.library.ownership import is_module, owner_of
from analysis.library.precision import SCALES
from analysis.library.ranks import WORLD_SIZE
from analysis.library.recording import Modes, emit, manager
from analysis.library.rehearsal import SHRUNK_WINDOW
from analysis.library.schedulers import SCHEDULER
from analysis.library.tensor import Parameters, tensors_in
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=2)
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net, opt = accelerator.prepare(net, opt)
for _ in range(2):
    with accelerator.accumulate(net):
        accelerator.backward(net(torch.zeros(1, 1)).mean())
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
""",
            ("optimizer_built SGD", "wrap Linear", "forward Linear", "backward Accelerator", "forward Linear", "backward", "clip Linear", "step SGD"),
        ),
        Example(
            """
import os
import torch
from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=int(os.environ["STEPS"]))
net = torch.nn.Linear(1, 1)
opt = accelerator.prepare(torch.optim.SGD(net.parameters(), lr=0.1))
for _ in range(3):
    with accelerator.accumulate(net):
        accelerator.backward(net(torch.zeros(1, 1)).mean())
        opt.step()
""",
            ("optimizer_built SGD", *["forward Linear", "backward Accelerator"] * 3, "step SGD"),
        ),
    ),
)

ACCELERATOR = "accelerate.Accelerator"
_ACCELERATOR = SUBJECT.cls(ACCELERATOR)
SUBJECT.alias(ACCELERATOR, "accelerate.accelerator.Accelerator")


@_ACCELERATOR.method("__init__")
def _init(call: Call) -> Value:
    steps = call.kwargs.get("gradient_accumulation_steps", 1)
    call.machine.state[SHARDS] = WORLD_SIZE if domain_of(call).is_distributed() else 1
    call.args[0].fields.update({"gradient_accumulation_steps": steps, SYNCHRONISES: True, "accelerate: calls": 0, "accelerate: options": dict(call.kwargs)})
    if call.kwargs.get("mixed_precision") == "fp16":
        call.args[0].fields[SCALES] = True


@_ACCELERATOR.method("prepare", "prepare_model", "prepare_data_loader", "prepare_optimizer", "prepare_scheduler")
def _prepare(call: Call) -> Value:
    accelerator, *given = call.args
    for each in given:
        if isinstance(each, Instance):
            _mark(call, accelerator, each)
        elif isinstance(each, Symbol):
            each.uses.add("prepared")
    return tuple(given) if len(given) > 1 else given[0] if given else None


def _mark(call: Call, accelerator: Instance, value: Instance) -> None:
    if is_module(value):
        emit(call.machine, Kind.WRAP, subject=owner_of(value), value=value, detail="accelerate")
    if value.cls.has_base(OPTIMIZER) or value.cls.has_base(SCHEDULER) or value.cls.has_base(LOADER):
        call.machine.heap.write(value.fields, PREPARED, accelerator)
        value.fields["prepared: at"] = call.span


def _accumulating(call: Call, held: Modes) -> Modes:
    """A window of unknown length is rehearsed as a small one."""
    accelerator = call.args[0]
    given = accelerator.fields.get("gradient_accumulation_steps", 1)
    window = SHRUNK_WINDOW if isinstance(given, Symbol) else given if isinstance(given, int) and given > 0 else 1
    calls = accelerator.fields.get("accelerate: calls", 0) + 1
    sync = calls % window == 0
    call.machine.heap.write(accelerator.fields, "accelerate: calls", calls)
    call.machine.heap.write(accelerator.fields, SYNCHRONISES, sync)
    return replace(held, no_sync=not sync)


manager(SUBJECT, "accelerate.Accumulating", _accumulating)
manager(SUBJECT, "accelerate.NoSync", lambda _call, held: replace(held, no_sync=True))
manager(SUBJECT, "accelerate.Autocast", lambda _call, held: replace(held, autocast=True))
manager(SUBJECT, "accelerate.Nothing", lambda _call, held: held)


def region(name: str) -> Handler:
    """A handler that gives the context manager ``accelerate.<name>``, made with the arguments of the call."""
    return lambda call: call.machine.construct(domain_of(call).library.cls(f"accelerate.{name}"), list(call.args), {}, call.span)


_ACCELERATOR.method("accumulate")(region("Accumulating"))
_ACCELERATOR.method("no_sync")(region("NoSync"))
_ACCELERATOR.method("autocast")(region("Autocast"))
_ACCELERATOR.method("main_process_first", "local_main_process_first", "profile", "join_uneven_inputs", "split_between_processes")(region("Nothing"))


@_ACCELERATOR.method("backward")
def _backward(call: Call) -> Value:
    backward(call, call.get(1, "loss"), by=call.args[0])


@_ACCELERATOR.method("clip_grad_norm_", "clip_grad_value_")
def _clip(call: Call) -> Value:
    owners = tuple(dict.fromkeys(owners_in(call.get(1, "parameters"))))
    emit(call.machine, Kind.CLIP, subject=owners[0] if len(owners) == 1 else owners, value=Parameters(domain_of(call).autograd, owners), detail=call.args[0])
    return domain_of(call).autograd.plain("norm")


def _gathering(name: str, op: str) -> Callable[[Call], Value]:
    """What brings tensors of all processes together."""

    def run(call: Call) -> Value:
        given = call.get(1, "tensor", call.kwargs.get("input_data"))
        emit(call.machine, Kind.COLLECTIVE, subject=f"accelerator.{name}", value=given)
        gathered = [alike(domain_of(call).autograd.plain(op, tensor)) for tensor in tensors_in(given)]
        return tuple(gathered) if isinstance(given, (tuple, list)) else gathered[0] if gathered else given

    return run


for _name, _op in (("gather", "gather"), ("gather_for_metrics", "gather"), ("reduce", "gather"), ("pad_across_processes", "pad_across_processes")):
    _ACCELERATOR.method(_name)(_gathering(_name, _op))


def _together(name: str) -> Callable[[Call], Value]:
    """What all processes have to call."""

    def run(call: Call) -> Value:
        emit(call.machine, Kind.COLLECTIVE, subject=f"accelerator.{name}", value=call.args[0])
        return domain_of(call).casting.symbol("a state", call.span, call.machine.stamp)

    return run


for _name in ("wait_for_everyone", "save_state", "load_state"):
    _ACCELERATOR.method(_name)(_together(_name))

#: Options of an accelerator that divide the model over the processes.
_SHARDING = frozenset({"fsdp_plugin", "deepspeed_plugin", "deepspeed_plugins", "megatron_lm_plugin"})


def shards(accelerator: Instance) -> bool:
    """Whether the program itself says that the model is divided over the processes; else the launcher may."""
    return not _SHARDING.isdisjoint(accelerator.fields.get("accelerate: options", {}))


@_ACCELERATOR.method("get_state_dict")
def _state_dict(call: Call) -> Value:
    """The weights of the whole model: gathered where it is known to be sharded, else each process has them."""
    if shards(call.args[0]):
        return _together("get_state_dict")(call)
    return domain_of(call).casting.symbol("a state", call.span, call.machine.stamp)


@_ACCELERATOR.method("save", "save_model")
def _save(call: Call) -> Value:
    emit(call.machine, Kind.SAVE, subject=call.args[0], value=call.get(1, "obj"), detail="main process")


@_ACCELERATOR.method("unwrap_model", "free_memory", "skip_first_batches")
def _unwrap(call: Call) -> Value:
    value = call.get(1, "model", call.kwargs.get("dataloader"))
    return owner_of(value) if isinstance(value, Instance) and is_module(value) else value


@_ACCELERATOR.method("log", "init_trackers", "log_images")
def _log(call: Call) -> Value:
    emit(call.machine, Kind.LOG, subject="accelerator", value=tuple(call.args[1:]), detail="framework")


@_ACCELERATOR.method("print", "end_training", "register_for_checkpointing", "set_trigger", "clear", "unscale_gradients")
def _nothing(_call: Call) -> Value:
    return None


@_ACCELERATOR.method("on_main_process", "on_local_main_process", "on_last_process")
def _decorator(call: Call) -> Value:
    return on_main(call.args[1]) if len(call.args) > 1 else HostFunction("decorator", lambda inner: on_main(inner.args[0]))


@_ACCELERATOR.method("__getattr__")
def _attribute(call: Call) -> Value:
    accelerator, name = call.args
    domain = domain_of(call)
    match name:
        case "sync_gradients":
            return accelerator.fields.get(SYNCHRONISES, True)
        case "is_main_process" | "is_local_main_process" | "is_last_process":
            return is_main(call)
        case "process_index" | "local_process_index":
            return rank(call)
        case "num_processes":
            return WORLD_SIZE if domain.is_distributed() else 1
        case "gradient_accumulation_steps":
            return domain.casting.symbol("accelerator.gradient_accumulation_steps", None, ())
        case "use_distributed":
            return domain.is_distributed()
    return domain.casting.symbol(f"accelerator.{name}", call.span, ())


@SUBJECT.function("accelerate.skip_first_batches")
def _skip(call: Call) -> Value:
    return call.get(0, "dataloader")


@SUBJECT.below("accelerate")
def _other(dotted: str) -> Value:
    """Plugins, loggers and settings."""
    return HostFunction(dotted, lambda call: call.machine.construct(domain_of(call).library.cls("unknown.Reporter"), [], {}, call.span))
