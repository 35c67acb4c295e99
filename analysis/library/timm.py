"""timm: loaders that shard by themselves, a scaler that does a whole step, averages of weights."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, Call, HostFunction, Instance, Value
from analysis.library.collecting import copied
from analysis.library.domain import domain_of
from analysis.library.gradients import backward
from analysis.library.knowledge import Example, Subject
from analysis.library.optimizers import OPTIMIZER, owners_in
from analysis.library.ownership import MODULE, WRAPPED
from analysis.library.precision import SCALER
from analysis.library.recording import emit
from analysis.library.tensor import Parameters
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import timm
import torch
from timm.utils import NativeScaler

net = timm.create_model("resnet18")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = NativeScaler()
loss = net(torch.zeros(1, 3, 8, 8)).mean()
opt.zero_grad()
scaler(loss, opt, clip_grad=1.0, parameters=net.parameters())
""",
            ("model_built", "optimizer_built SGD", "forward Model", "zero_grad SGD", "backward", "unscale", "clip Model", "step SGD", "update"),
        ),
    ),
)

_SCALER = SUBJECT.cls("timm.utils.NativeScaler", SCALER)
SUBJECT.alias("timm.utils.NativeScaler", "timm.utils.cuda.NativeScaler", "timm.utils.ApexScaler")


@_SCALER.method("__call__")
def _whole_step(call: Call) -> Value:
    scaler, machine = call.args[0], call.machine
    optimizer, parameters = call.get(2, "optimizer"), call.kwargs.get("parameters")
    backward(Call(machine, [], {"create_graph": call.kwargs.get("create_graph", False)}, call.span), call.get(1, "loss"), by=scaler)
    if call.kwargs.get("need_update", True) is False:
        return
    emit(machine, Kind.UNSCALE, subject=scaler, value=optimizer)
    if call.kwargs.get("clip_grad") is not None:
        owners = tuple(dict.fromkeys(owners_in(parameters)))
        emit(machine, Kind.CLIP, subject=owners[0] if len(owners) == 1 else owners, value=Parameters(domain_of(call).autograd, owners), detail=scaler)
    emit(machine, Kind.STEP, subject=optimizer, detail=scaler)
    emit(machine, Kind.SCALER_UPDATE, subject=scaler)


@SUBJECT.function("timm.data.create_loader", "timm.data.loader.create_loader")
def _create_loader(call: Call) -> Value:
    domain = domain_of(call)
    dataset = call.get(0, "dataset")
    sampler = None
    if call.kwargs.get("distributed", False) is not False:
        sampler = call.machine.construct(domain.library.cls("torch.utils.data.DistributedSampler"), [dataset], {}, call.span)
    options = {key: value for key, value in call.kwargs.items() if key in {"batch_size", "num_workers", "pin_memory"}}
    if sampler is None:
        options["shuffle"] = call.kwargs.get("is_training", False)
    return call.machine.construct(domain.library.cls("torch.utils.data.DataLoader"), [dataset], {**options, "sampler": sampler}, call.span)


@SUBJECT.function("timm.data.create_dataset", "timm.data.dataset_factory.create_dataset")
def _create_dataset(call: Call) -> Value:
    return call.machine.construct(domain_of(call).library.cls("unknown.Dataset"), list(call.args), dict(call.kwargs), call.span)


@SUBJECT.function("timm.optim.create_optimizer", "timm.optim.create_optimizer_v2", "timm.optim.optim_factory.create_optimizer")
def _create_optimizer(call: Call) -> Value:
    model = next((value for value in (*call.args, *call.kwargs.values()) if isinstance(value, Instance) and value.cls.has_base(MODULE)), None)
    return call.machine.construct(domain_of(call).library.cls(OPTIMIZER), [model], {}, call.span)


@SUBJECT.function("timm.scheduler.create_scheduler", "timm.scheduler.create_scheduler_v2")
def _create_scheduler(call: Call) -> Value:
    domain = domain_of(call)
    optimizer = next((value for value in (*call.args, *call.kwargs.values()) if isinstance(value, Instance) and value.cls.has_base(OPTIMIZER)), None)
    scheduler = call.machine.construct(domain.library.cls("torch.optim.lr_scheduler.LambdaLR"), [optimizer], {}, call.span)
    return scheduler, domain.casting.symbol("the number of epochs", call.span, ())


_SCHEDULES = "CosineLRScheduler StepLRScheduler TanhLRScheduler PlateauLRScheduler MultiStepLRScheduler PolyLRScheduler"
SUBJECT.subclasses("torch.optim.lr_scheduler.LambdaLR", "timm.scheduler", _SCHEDULES)
for _file in ("cosine_lr", "step_lr", "tanh_lr", "plateau_lr", "multistep_lr", "poly_lr"):
    SUBJECT.alias("timm.scheduler", f"timm.scheduler.{_file}")

_AVERAGE = SUBJECT.cls("torch.optim.swa_utils.AveragedModel", MODULE)
_AVERAGES = """
timm.utils.ModelEma timm.utils.ModelEmaV2 timm.utils.ModelEmaV3 timm.utils.model_ema.ModelEma diffusers.training_utils.EMAModel
torch_ema.ExponentialMovingAverage ema_pytorch.EMA
"""
for _name in _AVERAGES.split():
    SUBJECT.cls(_name, "torch.optim.swa_utils.AveragedModel")


@_AVERAGE.method("__init__")
def _average(call: Call) -> Value:
    """A copy of the model that no optimizer knows."""
    average, model = call.args[0], call.get(1, "model", call.kwargs.get("parameters"))
    copy = copied(call, model, {}) if isinstance(model, Instance) else model
    average.fields.update({WRAPPED: copy, "ema": copy, "ema_model": copy, "training": True})


@_AVERAGE.method("forward")
def _forward(call: Call) -> Value:
    return call.machine.call(call.args[0].fields[WRAPPED], call.args[1:], dict(call.kwargs), call.span)


@_AVERAGE.method("update", "update_parameters", "step", "copy_to", "store", "restore", "set", "update_after_step")
def _update(_call: Call) -> Value:
    return None


@SUBJECT.below("timm.utils", "timm.data", "timm.scheduler", "timm.optim", "timm.layers", "timm.models.layers")
def _other(dotted: str) -> Value:
    """Meters, metrics, mix-ups and layers."""
    name = dotted.rpartition(".")[2]
    if name[:1].isupper():
        return MISSING
    return HostFunction(dotted, lambda call: domain_of(call).casting.symbol(f"{name}()", call.span, call.machine.stamp))
