"""The clock: each process reads its own, so that what depends on how late it is differs between ranks."""

from __future__ import annotations

from analysis.interpreter.values import Call, Symbol, Value
from analysis.library.decisions import TIME
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import time
import torch

net = torch.nn.Linear(1, 1)
started = time.time()
for _ in range(2):
    net(torch.zeros(1, 1)).sum().backward()
    if time.time() - started > 3600:
        break
""",
            ("forward Linear", "backward", "forward Linear", "backward"),
        ),
    ),
)


@SUBJECT.function(*(f"time.{name}" for name in ("time", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns")), "timeit.default_timer")
def _now(call: Call) -> Value:
    now = Symbol("the time", call.span, call.machine.stamp)
    now.role = TIME
    domain_of(call).reads_clock = True
    return now
