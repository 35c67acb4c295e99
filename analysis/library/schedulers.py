"""Learning-rate schedules: what they belong to and when they are stepped."""

from __future__ import annotations

from analysis.interpreter.values import Alternatives, Call, HostFunction, Instance, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import captured, emit, restored
from analysis.trace.events import Kind

SCHEDULER = "torch.optim.lr_scheduler.LRScheduler"
#: Of an optimizer: the schedules that were made for it.
_SCHEDULES = "optimizer: schedules"

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch

net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
opt.step()
schedule.step()
print(schedule.get_last_lr()[0])
""",
            ("optimizer_built SGD", "step SGD", "scheduler_step CosineAnnealingLR"),
        ),
        Example(
            """
import torch

net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 0.9)
for batch in range(4):
    schedule.step()
    if schedule.last_epoch == 4:
        net.eval()
""",
            ("optimizer_built SGD", *["scheduler_step LambdaLR"] * 4, "eval Linear"),
        ),
    ),
)

#: What the arguments after the optimizer are called, for schedules of a fixed length.
_ARGUMENTS = {
    "LambdaLR": ("lr_lambda", "last_epoch"),
    "MultiplicativeLR": ("lr_lambda", "last_epoch"),
    "StepLR": ("step_size", "gamma", "last_epoch"),
    "MultiStepLR": ("milestones", "gamma", "last_epoch"),
    "ExponentialLR": ("gamma", "last_epoch"),
    "CosineAnnealingLR": ("T_max", "eta_min", "last_epoch"),
    "OneCycleLR": ("max_lr", "total_steps", "epochs", "steps_per_epoch"),
    "PolynomialLR": ("total_iters", "power"),
    "SequentialLR": ("schedulers", "milestones"),
}

_SCHEDULER = SUBJECT.cls(SCHEDULER)
SUBJECT.alias(SCHEDULER, "torch.optim.lr_scheduler._LRScheduler")
SUBJECT.subclasses(
    SCHEDULER,
    "torch.optim.lr_scheduler",
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR OneCycleLR "
    "PolynomialLR ReduceLROnPlateau SequentialLR ChainedScheduler",
)


@_SCHEDULER.method("__init__")
def _init(call: Call) -> Value:
    scheduler = call.args[0]
    named = dict(zip(_ARGUMENTS.get(scheduler.cls.name, ()), call.args[2:], strict=False))
    options = {**named, **{key: value for key, value in call.kwargs.items() if key != "optimizer"}}
    scheduler.fields.update({"optimizer": call.get(1, "optimizer"), "scheduler: options": options, "last_epoch": 0})
    _belongs(call, scheduler)


def _belongs(call: Call, scheduler: Instance) -> None:
    """The optimizer knows its schedules."""
    optimizer = scheduler.fields["optimizer"]
    if isinstance(optimizer, Instance):
        call.machine.heap.write(optimizer.fields, _SCHEDULES, (*schedules_of(optimizer), scheduler))


def schedules_of(optimizer: Instance) -> tuple[Instance, ...]:
    """The schedules that were built for an optimizer, on whichever side of an undecided condition."""
    built = optimizer.fields.get(_SCHEDULES, ())
    sides = built.values if isinstance(built, Alternatives) else (built,)
    return tuple(dict.fromkeys(each for side in sides for each in side))


@_SCHEDULER.method("step", "step_update")
def _step(call: Call) -> Value:
    """``last_epoch`` counts the steps, so that programs that ask the schedule how far they are are followed."""
    emit(call.machine, Kind.SCHEDULER_STEP, subject=call.args[0], detail=(*call.args[1:], *call.kwargs.values()))
    counted = call.args[0].fields.get("last_epoch")
    if isinstance(counted, int):
        call.machine.heap.write(call.args[0].fields, "last_epoch", counted + 1)


@_SCHEDULER.method("get_last_lr", "get_lr")
def _rates(call: Call) -> Value:
    return [domain_of(call).casting.symbol("the learning rate", call.span, call.machine.stamp)]


@_SCHEDULER.method("state_dict")
def _state(call: Call) -> Value:
    return captured(call, "a schedule")


@_SCHEDULER.method("load_state_dict")
def _load(call: Call) -> Value:
    restored(call)


@_SCHEDULER.method("print_lr")
def _nothing(_call: Call) -> Value:
    return None


#: Arguments after the optimizer of the functions of Transformers and Diffusers.
_AFTER_OPTIMIZER = ("num_warmup_steps", "num_training_steps")


def made_by(optimizer_index: int) -> HostFunction:
    """A function that makes a schedule for the optimizer at ``optimizer_index`` of its arguments."""

    def run(call: Call) -> Value:
        cls = domain_of(call).library.cls("torch.optim.lr_scheduler.LambdaLR")
        scheduler = call.machine.instance(cls, call.span)
        options = {**dict(zip(_AFTER_OPTIMIZER, call.args[optimizer_index + 1 :], strict=False)), **call.kwargs}
        scheduler.fields.update({"optimizer": call.get(optimizer_index, "optimizer"), "scheduler: options": options, "last_epoch": 0})
        _belongs(call, scheduler)
        return scheduler

    return HostFunction("scheduler", run)


_BY_TRANSFORMERS = """
get_constant_schedule get_constant_schedule_with_warmup get_linear_schedule_with_warmup get_cosine_schedule_with_warmup
get_polynomial_decay_schedule_with_warmup get_cosine_with_hard_restarts_schedule_with_warmup get_inverse_sqrt_schedule get_wsd_schedule
get_cosine_with_min_lr_schedule_with_warmup
"""
for _name in _BY_TRANSFORMERS.split():
    for _package in ("transformers", "transformers.optimization", "diffusers.optimization"):
        SUBJECT.values[f"{_package}.{_name}"] = made_by(0)
for _package in ("transformers", "transformers.optimization", "diffusers.optimization"):
    SUBJECT.values[f"{_package}.get_scheduler"] = made_by(1)
