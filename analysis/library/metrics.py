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
    ),
)

_BELOW = "functional classification regression text image audio detection retrieval segmentation aggregation wrappers utilities metric"
_PACKAGES = frozenset(_BELOW.split())

_METRIC = SUBJECT.cls("unknown.Metric")


@_METRIC.method("__call__", "update", "forward", "add", "add_batch", "compute")
def _take_in(call: Call) -> Value:
    _measured(call, tuple(call.args[1:]))
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
    return HostFunction(dotted, _metric if name[:1].isupper() else _function)


SUBJECT.values["evaluate.load"] = SUBJECT.values["evaluate.combine"] = SUBJECT.values["datasets.load_metric"] = HostFunction("evaluate.load", _evaluation)
