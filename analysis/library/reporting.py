"""Progress bars, loggers and trackers: they see values and change nothing."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, Call, HostFunction, Value
from analysis.library.bars import BAR
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import emit
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import logging
import torch
import wandb
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

wandb.init(project="x")
writer = SummaryWriter()
log = logging.getLogger(__name__)
bar = tqdm([1, 2])
for step in bar:
    log.info("step %d", step)
    bar.set_postfix(step=step)
    writer.add_scalar("step", step)
    wandb.log({"step": step})
""",
            ("log", "log", "log", "log"),
        ),
    ),
)

_BAR = SUBJECT.cls(BAR)
SUBJECT.alias(
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
    "tqdm.contrib.tqdm",
    "tqdm.notebook.tqdm",
    "tqdm.std.tqdm",
    "tqdm.asyncio.tqdm",
    "tqdm.rich.tqdm",
    "tqdm.tqdm_notebook",
    "tqdm.autonotebook.tqdm",
)


@_BAR.method("__init__")
def _bar(call: Call) -> Value:
    call.args[0].fields["iterable"] = call.get(1, "iterable", ())


@_BAR.method("__iter__")
def _bar_items(call: Call) -> Value:
    return call.args[0].fields.get("iterable", ())


@_BAR.method("__len__")
def _bar_length(call: Call) -> Value:
    return call.machine.call(call.machine.builtins["len"], [call.args[0].fields.get("iterable", ())], {}, call.span)


@_BAR.method("__enter__")
def _bar_enter(call: Call) -> Value:
    return call.args[0]


@_BAR.method("__exit__")
def _bar_exit(_call: Call) -> Value:
    return None


@_BAR.method("__getattr__")
def _bar_method(call: Call) -> Value:
    return domain_of(call).casting.symbol("a number", call.span, ()) if call.args[1] in {"n", "total"} else _SILENT


@_BAR.static("write")
def _write(_call: Call) -> Value:
    return None


@SUBJECT.function(*(f"tqdm.{module}trange" for module in ("", "auto.", "autonotebook.", "notebook.", "std.", "asyncio.", "rich.")), "tqdm.tnrange")
def _trange(call: Call) -> Value:
    return call.machine.call(call.machine.builtins["range"], call.args, {}, call.span)


@SUBJECT.function("rich.progress.track", "fastprogress.progress_bar", "fastprogress.master_bar", "tqdm.contrib.tzip", "alive_progress.alive_it")
def _track(call: Call) -> Value:
    return call.args[0] if call.args else ()


@SUBJECT.function("builtins.print")
def _print(call: Call) -> Value:
    """An event where ranks print different things: the numbers of their shards."""
    if any(getattr(value, "rank_varying", False) is True for value in call.args):
        emit(call.machine, Kind.PRINT, value=tuple(call.args))


_SILENT = HostFunction("silent", lambda _call: None)

_OBJECT = SUBJECT.cls("unknown.Reporter")


@_OBJECT.method("__init__")
def _object(_call: Call) -> Value:
    return None


@_OBJECT.method("__getattr__")
def _method(call: Call) -> Value:
    reporter, name = call.args
    return HostFunction(name, lambda inner: _reported(inner, reporter, name))


def _reported(call: Call, reporter: Value, name: str) -> Value:
    if reporter.fields.get("tracks") is True:
        emit(call.machine, Kind.LOG, subject=name, value=tuple(call.args), detail=dict(call.kwargs))
    return call.machine.instance(reporter.cls, call.span)


@_OBJECT.method("__enter__")
def _enter(call: Call) -> Value:
    return call.args[0]


@_OBJECT.method("__exit__", "__setitem__", "__delitem__")
def _nothing(_call: Call) -> Value:
    return None


@_OBJECT.method("__getitem__", "__call__")
def _itself(call: Call) -> Value:
    return call.args[0]


@_OBJECT.method("__iter__")
def _empty(_call: Call) -> Value:
    return ()


def reporter(call: Call, *, tracks: bool) -> Value:
    """An object whose methods report something; ``tracks``: to an experiment tracker that every run has one of."""
    made = call.machine.instance(domain_of(call).library.cls("unknown.Reporter"), call.span)
    made.fields["tracks"] = tracks
    return made


_SILENT_LIBRARIES = """
logging loguru warnings rich termcolor colorama matplotlib seaborn plotly tabulate prettytable absl.logging torchinfo torchsummary thop fvcore ptflops tqdm
structlog IPython pdb torch.profiler torch.autograd.profiler torch._dynamo torch._inductor
"""


@SUBJECT.below(*_SILENT_LIBRARIES.split())
def _harmless(dotted: str) -> Value:
    if dotted.rpartition(".")[2].isupper():
        return MISSING
    return HostFunction(dotted, lambda call: reporter(call, tracks=False))


def _set_by_environment(call: Call) -> dict[str, Value]:
    """The mode, if the program sets it through the environment: it may be another one on each rank."""
    variables = call.machine.state.get("environment", {})
    found = [variables[name] for name in ("WANDB_MODE", "WANDB_DISABLED") if name in variables]
    return {"mode": found[-1]} if found else {}


@SUBJECT.below("wandb", "mlflow", "neptune", "comet_ml", "swanlab", "clearml", "aim", "trackio")
def _tracker(dotted: str) -> Value:
    name = dotted.rpartition(".")[2]

    def run(call: Call) -> Value:
        emit(call.machine, Kind.LOG, subject=name, value=tuple(call.args), detail={**_set_by_environment(call), **call.kwargs})
        return reporter(call, tracks=True)

    return HostFunction(dotted, run)


@SUBJECT.function("torch.utils.tensorboard.SummaryWriter", "torch.utils.tensorboard.writer.SummaryWriter", "tensorboardX.SummaryWriter")
def _writer(call: Call) -> Value:
    emit(call.machine, Kind.LOG, subject="SummaryWriter", value=tuple(call.args), detail=dict(call.kwargs))
    return reporter(call, tracks=True)
