"""Processes and ranks: who am I, how many are we, and what all of us have to reach together."""

from __future__ import annotations

import ast
from dataclasses import replace

from analysis.interpreter.branches import choose
from analysis.interpreter.joins import SENT, alternatives_of
from analysis.interpreter.operators import compare
from analysis.interpreter.values import Call, HostFunction, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ranks import RANK, RANK_USE, WORLD_SIZE, own_rank
from analysis.library.recording import emit
from analysis.library.tensor import Made, Tensor
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
t = torch.zeros(1)
dist.all_reduce(t)
dist.barrier()
""",
            ("init_distributed", "collective", "collective"),
        ),
        Example(
            """
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("replicas", "parts"))
if mesh is not None:
    dist.barrier(group=mesh["parts"].get_group())
""",
            ("init_distributed", "collective"),
        ),
    ),
)

_DIST = "torch.distributed"
#: Collectives, with the position of the tensor that they change in place (None: they change none).
_COLLECTIVES: dict[str, int | None] = {
    "all_reduce": 0, "broadcast": 0, "reduce": 0, "barrier": None, "monitored_barrier": None, "scatter": 0, "reduce_scatter": 0,
    "reduce_scatter_tensor": 0, "all_to_all_single": 0, "all_gather_into_tensor": 0, "_all_gather_base": 0,
}  # fmt: skip
#: Those that fill one tensor from another: where that stands among the arguments.
_TAKEN_FROM = {
    "all_gather_into_tensor": (1, "input_tensor"), "_all_gather_base": (1, "input_tensor"), "reduce_scatter": (1, "input_list"),
    "reduce_scatter_tensor": (1, "input"), "all_to_all_single": (1, "input"),
}  # fmt: skip
_FILLED = ("output_tensor", "output")
#: Those after which every rank holds the same.
_ALIKE = frozenset({"all_reduce", "broadcast", "all_gather_into_tensor", "_all_gather_base"})
#: Where the group stands among the arguments.
GROUP_PLACES = {
    "barrier": 0,
    "all_reduce": 2,
    "broadcast": 2,
    "reduce": 3,
    "all_gather": 2,
    "gather": 3,
    "all_gather_object": 2,
    "broadcast_object_list": 2,
    "all_gather_into_tensor": 2,
}
_GATHERS = ("all_gather", "gather", "all_gather_object", "gather_object", "all_to_all", "broadcast_object_list", "scatter_object_list")


def rank(call: Call) -> Value:
    """The process's own number: unknown and different on each rank, or 0 when alone."""
    return own_rank(call.machine)


def is_main(call: Call) -> Value:
    """Whether this is the main process."""
    return compare(call.machine, ast.Eq(), rank(call), 0, call.span)


def on_main(function: Value) -> HostFunction:
    """``function`` run by the main process alone: what a decorator of a framework makes of it."""

    def run(call: Call) -> Value:
        machine = call.machine
        args, kwargs = list(call.args), dict(call.kwargs)
        decided = machine.truth(is_main(call), call.span)
        if decided is not None:
            return machine.call(function, args, kwargs, call.span) if decided else None
        return choose(machine, call.span, [lambda: machine.call(function, args, kwargs, call.span), lambda: None], machine.here)

    return HostFunction("on the main process", run)


@SUBJECT.function(f"{_DIST}.get_rank", f"{_DIST}.get_node_local_rank", "torch.cuda.current_device")
def _rank(call: Call) -> Value:
    return rank(call)


@SUBJECT.function(f"{_DIST}.get_world_size")
def _world_size(call: Call) -> Value:
    return WORLD_SIZE if domain_of(call).is_distributed() else 1


@SUBJECT.function(f"{_DIST}.is_available")
def _available(_call: Call) -> Value:
    return True


@SUBJECT.function(f"{_DIST}.is_initialized")
def _initialised(call: Call) -> Value:
    return bool(call.machine.state.get("process group")) or domain_of(call).is_distributed()


@SUBJECT.function(f"{_DIST}.is_torchelastic_launched")
def _elastic(call: Call) -> Value:
    return domain_of(call).is_distributed()


@SUBJECT.function(f"{_DIST}.device_mesh.init_device_mesh", f"{_DIST}.init_device_mesh")
def _mesh(call: Call) -> Value:
    """Begins the process group if none has begun; which rank has which place in the mesh is not told."""
    call.machine.state["process group"] = True
    emit(call.machine, Kind.INIT_DISTRIBUTED, subject=call.get(0, "device_type"))
    return domain_of(call).casting.symbol("a device mesh", call.span, ())


@SUBJECT.function(f"{_DIST}.init_process_group")
def _init(call: Call) -> Value:
    call.machine.state["process group"] = True
    if isinstance(call.kwargs.get("rank"), Symbol):
        call.kwargs["rank"].uses.add(RANK_USE)
    emit(call.machine, Kind.INIT_DISTRIBUTED, subject=call.get(0, "backend"))


@SUBJECT.function(f"{_DIST}.destroy_process_group")
def _destroy(call: Call) -> Value:
    call.machine.state["process group"] = False


@SUBJECT.function(f"{_DIST}.get_backend", f"{_DIST}.new_group", f"{_DIST}.get_process_group_ranks", f"{_DIST}.new_subgroups", f"{_DIST}.group.WORLD")
def _group(call: Call) -> Value:
    return domain_of(call).casting.symbol("a process group", call.span, ())


def _sent(call: Call) -> Value:
    """What one rank sent to all."""
    symbol = Symbol("what one rank sent to all", call.span, call.machine.stamp)
    symbol.role = SENT
    return symbol


def alike(tensor: Tensor) -> Tensor:
    """The same tensor, which is now the same on every rank."""
    tensor.rank_varying = False
    return tensor


def _collective(name: str, changed: int | None) -> HostFunction:
    def run(call: Call) -> Value:
        filled = name in _TAKEN_FROM
        tensor = call.get(changed, next((each for each in _FILLED if filled and each in call.kwargs), "tensor")) if changed is not None else None
        taken = call.get(*_TAKEN_FROM[name]) if filled else tensor
        emit(call.machine, Kind.COLLECTIVE, subject=name, value=taken, detail={**call.kwargs, "group": call.get(GROUP_PLACES.get(name, 9), "group")})
        if isinstance(tensor, Tensor) and domain_of(call).is_distributed():
            tensor.made = Made(name, (taken if filled else replace(tensor),), {}, call.span)
            tensor.rank_varying = name not in _ALIKE
        elif isinstance(tensor, Symbol) and name in _ALIKE and tensor.role != RANK:
            tensor.rank_varying = False
        return domain_of(call).casting.symbol("a handle", call.span, call.machine.stamp)

    return HostFunction(f"{_DIST}.{name}", run)


def _broadcast(call: Call, lists: tuple[Value, ...]) -> None:
    """Each of the lists that the ranks may hold becomes the same, item by item."""
    sent = [_sent(call) for _ in range(max((len(each) for each in lists if isinstance(each, list)), default=0))]
    for each in lists:
        if isinstance(each, list):
            call.machine.heap.touch(each)
            each[:] = sent[: len(each)]


def _gather(name: str) -> HostFunction:
    """A collective that fills a list with what the ranks have: copies without a graph."""

    def run(call: Call) -> Value:
        own = call.get(1, "tensor", call.kwargs.get("obj"))
        emit(call.machine, Kind.COLLECTIVE, subject=name, value=own, detail={**call.kwargs, "group": call.get(GROUP_PLACES.get(name, 9), "group")})
        target = call.args[0] if call.args else next(iter(call.kwargs.values()), None)
        if isinstance(target, list) and name.startswith("all_gather"):
            call.machine.heap.touch(target)
            target[:] = [alike(domain_of(call).autograd.plain("all_gather", own)) for _ in target or range(WORLD_SIZE)]
        if name == "broadcast_object_list":
            _broadcast(call, alternatives_of(target))
        return None

    return HostFunction(f"{_DIST}.{name}", run)


for _name, _changed in _COLLECTIVES.items():
    SUBJECT.values[f"{_DIST}.{_name}"] = _collective(_name, _changed)
for _name in _GATHERS:
    SUBJECT.values[f"{_DIST}.{_name}"] = _gather(_name)


@SUBJECT.below(f"{_DIST}.nn", f"{_DIST}.nn.functional")
def _with_gradient(dotted: str) -> Value:
    """The collectives that gradients go through."""
    name = dotted.rpartition(".")[2]

    def run(call: Call) -> Value:
        emit(call.machine, Kind.COLLECTIVE, subject=name, value=call.get(0, "tensor"), detail=dict(call.kwargs))
        made = domain_of(call).autograd.made(f"{name}_with_grad", tuple(call.args), call.kwargs)
        alike(made)
        return tuple(made.unpack(WORLD_SIZE)) if name == "all_gather" else made

    return HostFunction(dotted, run)


@SUBJECT.function("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes", "torch.distributed.spawn")
def _spawn(call: Call) -> Value:
    """Calls the function with the rank first, once per process."""
    args = call.get(1, "args", ())
    given = list(args) if isinstance(args, (list, tuple)) else []
    return call.machine.call(call.get(0, "fn"), [rank(call), *given], {}, call.span)


@SUBJECT.function("torch.multiprocessing.set_start_method", "torch.multiprocessing.set_sharing_strategy")
def _setting(_call: Call) -> Value:
    return None


@SUBJECT.function("torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.cuda.is_initialized")
def _has_cuda(_call: Call) -> Value:
    return True


@SUBJECT.function("torch.cuda.device_count")
def _devices(call: Call) -> Value:
    return domain_of(call).casting.symbol("the number of devices", None, ())


@SUBJECT.function("torch.cuda.synchronize", "torch.mps.synchronize", "torch.xpu.synchronize", "torch.accelerator.synchronize")
def _synchronize(call: Call) -> Value:
    """The host waits for everything that it has given the device to do."""
    emit(call.machine, Kind.ITEM, detail="synchronize")


@SUBJECT.below("torch.cuda", "torch.backends", "torch.mps", "torch.xpu", "torch.cpu", "torch.accelerator")
def _device_call(dotted: str) -> Value:
    """Statistics, synchronisation and settings of a device."""
    return HostFunction(dotted, lambda call: domain_of(call).casting.symbol(f"{dotted}()", call.span, call.machine.stamp))
