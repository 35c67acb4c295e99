"""Lightning Fabric: set up models and loaders, backward, clipping."""

from __future__ import annotations

from analysis.interpreter.values import Call, Instance, Symbol, Value
from analysis.library.accelerate import region
from analysis.library.distributed import alike, is_main, rank
from analysis.library.domain import domain_of
from analysis.library.gradients import backward
from analysis.library.knowledge import Example, Subject
from analysis.library.loading import LOADER
from analysis.library.optimizers import PREPARED
from analysis.library.ownership import is_module, owner_of
from analysis.library.precision import SCALES
from analysis.library.ranks import WORLD_SIZE
from analysis.library.recording import emit
from analysis.library.tensor import Parameters, Tensor
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from lightning.fabric import Fabric

fabric = Fabric(devices=2)
fabric.launch()
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net, opt = fabric.setup(net, opt)
fabric.backward(net(torch.zeros(1, 1)).mean())
opt.step()
""",
            ("optimizer_built SGD", "wrap Linear", "forward Linear", "backward Fabric", "step SGD"),
        ),
    ),
)

#: Precisions in which a loss is scaled before its backward.
_HALF = frozenset({16, "16", "16-mixed"})
_FABRIC = SUBJECT.cls("lightning.fabric.Fabric")
SUBJECT.alias("lightning.fabric.Fabric", "lightning_fabric.Fabric", "lightning.fabric.fabric.Fabric", "lightning.Fabric", "lightning.pytorch.Fabric")


@_FABRIC.method("__init__")
def _init(call: Call) -> Value:
    call.args[0].fields["fabric: options"] = dict(call.kwargs)
    if call.kwargs.get("precision") in _HALF:
        call.args[0].fields[SCALES] = True
    several = any(isinstance(count, int) and count > 1 for count in (call.kwargs.get("devices"), call.kwargs.get("num_nodes")))
    if several or str(call.kwargs.get("strategy", "")).startswith(("ddp", "fsdp", "deepspeed")):
        emit(call.machine, Kind.INIT_DISTRIBUTED, subject="fabric")


@_FABRIC.method("setup", "setup_module", "setup_optimizers", "setup_dataloaders")
def _setup(call: Call) -> Value:
    _, *given = call.args
    for each in given:
        if isinstance(each, Instance) and is_module(each):
            emit(call.machine, Kind.WRAP, subject=owner_of(each), value=each, detail="fabric")
        if isinstance(each, Instance) and each.cls.has_base(LOADER) and call.kwargs.get("use_distributed_sampler") is not False:
            call.machine.heap.write(each.fields, PREPARED, call.args[0])
        elif isinstance(each, Symbol):
            each.uses.add("prepared")
    return tuple(given) if len(given) > 1 else given[0] if given else None


@_FABRIC.method("backward")
def _backward(call: Call) -> Value:
    backward(call, call.get(1, "tensor"), by=call.args[0])


@_FABRIC.method("clip_gradients")
def _clip(call: Call) -> Value:
    model = call.get(1, "module")
    if isinstance(model, Instance):
        emit(call.machine, Kind.CLIP, subject=owner_of(model), value=Parameters(domain_of(call).autograd, (owner_of(model),)), detail=call.args[0])


_FABRIC.method("no_backward_sync")(region("NoSync"))
_FABRIC.method("autocast")(region("Autocast"))
_FABRIC.method("rank_zero_first", "init_module", "init_tensor")(region("Nothing"))


@_FABRIC.method("launch")
def _launch(call: Call) -> Value:
    if len(call.args) > 1:
        return call.machine.call(call.args[1], [call.args[0], *call.args[2:]], dict(call.kwargs), call.span)
    return None


@_FABRIC.method("all_reduce", "all_gather", "barrier", "broadcast")
def _together(call: Call) -> Value:
    given = call.get(1, "data")
    emit(call.machine, Kind.COLLECTIVE, subject="fabric", value=given)
    if isinstance(given, Tensor):
        alike(given)  # it is reduced in place, too
    return alike(domain_of(call).autograd.plain("gather", given))


@_FABRIC.method("save")
def _save(call: Call) -> Value:
    emit(call.machine, Kind.COLLECTIVE, subject="fabric.save", value=call.get(2, "state"))


@_FABRIC.method("log", "log_dict")
def _log(call: Call) -> Value:
    emit(call.machine, Kind.LOG, subject="fabric", value=tuple(call.args[1:]), detail="framework")


@_FABRIC.method("seed_everything")
def _seed(call: Call) -> Value:
    seed = call.get(1, "seed")
    emit(call.machine, Kind.SEED, value=seed)
    return seed


@_FABRIC.method("print", "call", "load", "load_raw", "mark_forward_method")
def _nothing(_call: Call) -> Value:
    return None


@_FABRIC.method("to_device")
def _to_device(call: Call) -> Value:
    return call.args[1]


@_FABRIC.method("__getattr__")
def _attribute(call: Call) -> Value:
    domain, name = domain_of(call), call.args[1]
    match name:
        case "global_rank" | "local_rank" | "node_rank":
            return rank(call)
        case "world_size":
            return WORLD_SIZE if domain.is_distributed() else 1
        case "is_global_zero":
            return is_main(call)
    return domain.casting.symbol(f"fabric.{name}", call.span, ())
