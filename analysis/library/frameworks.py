"""What the guest sources of training frameworks ask of the host: batches, loggers, and what ``configure_optimizers`` gave."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import MISSING, Call, GuestList, HostFunction, Instance, Symbol, Value
from analysis.library.distributed import on_main
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.loading import SHARDS
from analysis.library.optimizers import OPTIMIZER
from analysis.library.ownership import owner_of
from analysis.library.recording import emit, modes
from analysis.library.schedulers import SCHEDULER
from analysis.library.tensor import tensors_in
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import lightning.pytorch as pl
import torch

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

pl.Trainer(max_epochs=2).fit(Lit(), None)
""",
            ("optimizer_built SGD", "train Lit", "forward Linear", "zero_grad SGD", "backward", "step SGD", "forward Linear", "zero_grad SGD"),
        ),
        Example(
            """
from transformers import AutoModel, Trainer, TrainingArguments

Trainer(model=AutoModel.from_pretrained("x"), args=TrainingArguments("out"), train_dataset=[1]).train()
""",
            ("eval", "optimizer_built AdamW", "train", "forward", "backward", "clip", "step AdamW", "scheduler_step", "zero_grad", "forward"),
        ),
    ),
)


#: What is logged for all of a run's ranks, as each of them has it, decides which checkpoint is kept, or when to stop.
SELECTION = "selection"
#: Of a callback: the name of the number that it goes by.
_MONITOR = "callback: monitor"


@SUBJECT.function("preflight_library.framework_loader")
def _loader(call: Call) -> Value:
    """The batches of an epoch: a loader that was not given gives unknown ones; whose order is the framework's business.

    In an evaluation each rank is dealt batches of its own.
    """
    given = call.args[0]
    loader = next(_loaders(given), None)
    if loader is not None:
        return _dealt(call, call.machine.iterate(loader, call.span))
    if isinstance(given, (list, dict)) or given is None or isinstance(given, Symbol):
        return _batches(call)
    return call.machine.iterate(given, call.span)


def _dealt(call: Call, batches: Iterator[Value]) -> Iterator[Value]:
    evaluates = not modes(call.machine).grad and domain_of(call).is_distributed()
    for batch in batches:
        for tensor in tensors_in(batch) if evaluates else ():
            tensor.rank_varying = True
        yield batch


def _loaders(value: Value) -> Iterator[Instance]:
    match value:
        case Instance() if value.cls.find("__iter__") is not MISSING:
            yield value
        case list() | tuple():
            for each in value:
                yield from _loaders(each)
        case dict():
            for each in value.values():
                yield from _loaders(each)


def _batches(call: Call) -> Iterator[Value]:
    domain = domain_of(call)
    for _ in range(domain.rehearsal.horizon.rounds):
        batch = domain.autograd.plain("batch")
        batch.rank_varying = not modes(call.machine).grad and domain.is_distributed()
        yield batch


@SUBJECT.function("preflight_library.framework_accelerator")
def _accelerator(call: Call) -> Value:
    """The accelerator that a trainer keeps; its loaders are the trainer's business."""
    before = call.machine.state.get(SHARDS, 1)
    made = call.machine.construct(domain_of(call).library.cls("accelerate.Accelerator"), [], {}, call.span)
    call.machine.state[SHARDS] = before
    return made


@SUBJECT.function("preflight_library.scales_losses")
def _scales(call: Call) -> Value:
    """A trainer that scales the losses of ``model`` in its own backward, if the precision that it was asked for is half, or DeepSpeed takes part."""
    model, *settings = call.args
    if any(each is True or each in ("16-mixed", "16", 16) or isinstance(each, dict) for each in settings):
        emit(call.machine, Kind.WRAP, subject=owner_of(model), value=model, detail="trainer")


@SUBJECT.function("preflight_library.gathered")
def _gathered(call: Call) -> Value:
    """What all ranks have of something, stacked; it carries a graph only if that was asked for."""
    data, asked = call.get(1, "data"), call.get(3, "sync_grads", False)
    emit(call.machine, Kind.COLLECTIVE, subject="all_gather_object", value=data)
    cut = call.machine.truth(asked, call.span) is False
    made: Value = domain_of(call).autograd.made("all_gather" if cut else "all_gather_with_grad", (data,), cut=cut)
    return made


@SUBJECT.function("preflight_library.total")
def _total(call: Call) -> Value:
    """One number of all tensors that a model gives."""
    return domain_of(call).autograd.made("sum", tuple(tensors_in(call.args[0])))


@SUBJECT.function("preflight_library.log_value")
def _log(call: Call) -> Value:
    name, value, sync, monitored = call.args
    synchronises = call.machine.truth(sync, call.span) is True
    if synchronises:
        emit(call.machine, Kind.COLLECTIVE, subject="sync_dist", value=value)
    emit(call.machine, Kind.LOG, subject=name, value=value, detail=SELECTION if name in monitored and not synchronises else "framework")


@SUBJECT.function("preflight_library.monitored_by")
def _monitored(call: Call) -> Value:
    """The names of the numbers by which callbacks choose checkpoints, or stop."""
    callbacks = call.args[0] if isinstance(call.args[0], (list, tuple)) else [call.args[0]]
    names = (each.fields.get(_MONITOR) for each in callbacks if isinstance(each, Instance))
    return tuple(name for name in names if isinstance(name, str))


@SUBJECT.function("preflight_library.together")
def _together(call: Call) -> Value:
    """Something that every rank has to call."""
    emit(call.machine, Kind.COLLECTIVE, subject=call.args[0])


@SUBJECT.function("preflight_library.optimizers_in")
def _optimizers(call: Call) -> Value:
    return _listed(call, _found(call.args[0], OPTIMIZER))


@SUBJECT.function("preflight_library.schedulers_in")
def _schedulers(call: Call) -> Value:
    """All schedules of a configuration, or those that the trainer steps once per "epoch" (where nothing is said) or "step"."""
    if len(call.args) == 1:
        return _listed(call, _found(call.args[0], SCHEDULER))
    return _listed(call, (scheduler for scheduler, interval in _intervals(call.args[0], "epoch") if interval == call.args[1]))


def _intervals(value: Value, interval: Value) -> Iterator[tuple[Instance, Value]]:
    match value:
        case Instance() if value.cls.has_base(SCHEDULER):
            yield value, interval
        case list() | tuple():
            for each in value:
                yield from _intervals(each, interval)
        case dict() if "scheduler" in value:
            yield from _intervals(value["scheduler"], value.get("interval", "epoch") if value.get("frequency", 1) == 1 else None)
        case dict():
            for each in value.values():
                yield from _intervals(each, interval)


def _listed(call: Call, found: Iterator[Instance]) -> GuestList:
    made = GuestList(dict.fromkeys(found))
    made.span, made.stamp = call.span, call.machine.stamp
    return made


def _found(value: Value, base: str) -> Iterator[Instance]:
    match value:
        case Instance() if value.cls.has_base(base):
            yield value
        case list() | tuple():
            for each in value:
                yield from _found(each, base)
        case dict():
            for each in value.values():
                yield from _found(each, base)


_CALLBACKS = """
fastai lightning.pytorch.callbacks lightning.pytorch.loggers lightning.pytorch.utilities lightning.pytorch.strategies lightning.pytorch.plugins
pytorch_lightning.callbacks pytorch_lightning.loggers pytorch_lightning.utilities pytorch_lightning.strategies pytorch_lightning.plugins composer.utils
composer.optim composer.algorithms ignite.handlers ignite.contrib
"""


@SUBJECT.below(*_CALLBACKS.split())
def _callback(dotted: str) -> Value:
    """Callbacks, loggers and learners: what they do inside the framework's loop is the framework's business."""
    name = dotted.rpartition(".")[2]
    if name == "rank_zero_only":
        return HostFunction(dotted, lambda call: on_main(call.args[0]))
    return HostFunction(dotted, _built)


def _built(call: Call) -> Value:
    made = call.machine.construct(domain_of(call).library.cls("unknown.Reporter"), [], {}, call.span)
    if isinstance(made, Instance):
        made.fields[_MONITOR] = call.kwargs.get("monitor")
    return made
