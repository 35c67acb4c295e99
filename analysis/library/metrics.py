"""Metrics of torchmetrics, torcheval and Evaluate: objects that take in outputs, keep no graph and reduce over ranks themselves."""

from __future__ import annotations

from analysis.interpreter.values import MISSING, Call, HostFunction, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import emit
from analysis.library.tensor import tensors_in
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
import torchmetrics

accuracy = torchmetrics.Accuracy(task="binary").to("cuda")
accuracy.update(torch.zeros(1), torch.zeros(1))
accuracy(torch.zeros(1), torch.zeros(1))
print(accuracy.compute())
torchmetrics.functional.accuracy(torch.zeros(1), torch.zeros(1), task="binary")
""",
            ("measure", "measure", "measure"),
        ),
        Example(
            """
import evaluate
import torch

metric = evaluate.load("glue", "mrpc")
metric.add_batch(predictions=torch.zeros(1), references=torch.zeros(1))
metric.compute()
""",
            ("measure",),
        ),
        Example(
            """
import torch
from ignite.engine import Engine
from ignite.metrics import Accuracy

net = torch.nn.Linear(4, 2)
evaluator = Engine(lambda engine, x: (net(x), torch.zeros(1)))
Accuracy().attach(evaluator, "accuracy")
evaluator.run([torch.zeros(1, 4)])
""",
            ("forward Linear", "measure", "forward Linear", "measure"),
        ),
    ),
)

_BELOW = "functional classification regression text image audio detection retrieval segmentation aggregation wrappers utilities metric"
_PACKAGES = frozenset(_BELOW.split())

_METRIC = SUBJECT.cls("unknown.Metric")


@_METRIC.method("__call__", "update", "forward", "add", "add_batch", "compute")
def _take_in(call: Call) -> Value:
    _measured(call, tuple(call.args[1:]))
    return domain_of(call).casting.symbol("the value of a metric", call.span, ())


_SYNCED = SUBJECT.cls("unknown.SyncedMetric", "unknown.Metric")


@_SYNCED.method("compute")
def _synced(call: Call) -> Value:
    """One of torchmetrics gathers the states of all ranks first, unless it is told otherwise."""
    if call.args[0].fields.get("metric: synced") is not False and domain_of(call).is_distributed():
        emit(call.machine, Kind.COLLECTIVE, subject="metric.compute", detail={})
    return domain_of(call).casting.symbol("the value of a metric", call.span, ())


_EVALUATION = SUBJECT.cls("unknown.Evaluation", "unknown.Metric")


@_EVALUATION.method("compute")
def _computed(call: Call) -> Value:
    """One of Evaluate's knows what this process gave it, and nothing of other ranks."""
    given = (*call.args[1:], *call.kwargs.values())
    _measured(call, tuple(call.args[1:]))
    if any(True for _ in tensors_in(given)):
        return domain_of(call).autograd.plain("metric", *given)
    return domain_of(call).casting.symbol("the value of a metric", call.span, ())


@_METRIC.method("to", "cuda", "cpu", "clone", "__getitem__")
def _itself(call: Call) -> Value:
    return call.args[0]


@_METRIC.method("reset", "__setitem__", "__delitem__")
def _nothing(_call: Call) -> Value:
    return None


@_METRIC.method("__getattr__")
def _other(call: Call) -> Value:
    return domain_of(call).casting.symbol(f"metric.{call.args[1]}", call.span, ())


def _measured(call: Call, given: tuple[Value, ...]) -> None:
    values = (*given, *call.kwargs.values())
    if any(True for _ in tensors_in(values)):
        emit(call.machine, Kind.MEASURE, value=values)


def _metric(call: Call) -> Value:
    return call.machine.instance(domain_of(call).library.cls("unknown.Metric"), call.span)


def _synced_metric(call: Call) -> Value:
    made = call.machine.instance(domain_of(call).library.cls("unknown.SyncedMetric"), call.span)
    told = {"sync_on_compute", "process_group", "distributed_available_fn", "dist_sync_fn"} & call.kwargs.keys()
    made.fields["metric: synced"] = not told
    return made


def _evaluation(call: Call) -> Value:
    """One that is told of other processes collects what all of them give."""
    name = "unknown.Metric" if "num_process" in call.kwargs else "unknown.Evaluation"
    return call.machine.instance(domain_of(call).library.cls(name), call.span)


def _function(call: Call) -> Value:
    _measured(call, tuple(call.args))
    return domain_of(call).casting.symbol("the value of a metric", call.span, ())


@SUBJECT.below("torchmetrics", "torcheval.metrics")
def _of_library(dotted: str) -> Value:
    """A class by its name, a function, or a package below."""
    name = dotted.rpartition(".")[2]
    if name == "Metric" or name in _PACKAGES:
        return MISSING
    if not name[:1].isupper():
        return HostFunction(dotted, _function)
    return HostFunction(dotted, _synced_metric if dotted.startswith("torchmetrics.") else _metric)


_ATTACHED = SUBJECT.cls("unknown.AttachedMetric", "unknown.Metric")


@_ATTACHED.method("attach")
def _attach(call: Call) -> Value:
    """From then on the metric takes in what the engine's function gives for each batch."""
    machine, engine = call.machine, call.get(1, "engine")

    def taken(inner: Call) -> Value:
        _measured(Call(inner.machine, [], {}, call.span), (inner.machine.getattr(inner.machine.getattr(engine, "state", call.span), "output", call.span),))

    machine.call(machine.getattr(engine, "add_event_handler", call.span), ["iteration_completed", HostFunction("update", taken)], {}, call.span)


@SUBJECT.below("ignite.metrics")
def _of_ignite(dotted: str) -> Value:
    if not dotted.rpartition(".")[2][:1].isupper():
        return MISSING
    return HostFunction(dotted, lambda call: call.machine.instance(domain_of(call).library.cls("unknown.AttachedMetric"), call.span))


SUBJECT.values["evaluate.load"] = SUBJECT.values["evaluate.combine"] = SUBJECT.values["datasets.load_metric"] = HostFunction("evaluate.load", _evaluation)
