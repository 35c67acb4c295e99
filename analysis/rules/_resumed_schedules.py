"""Schedules that go on where they were without their state: told so when built, set by hand, or stepped up to there. Shared by rules, and no rule itself."""

from __future__ import annotations

import re

from analysis.interpreter.values import Instance, Value
from analysis.trace import Trace
from analysis.trace.events import Kind

_SETS_EPOCH = re.compile(rb"\.last_epoch\s*=[^=]")


def is_told(trace: Trace, scheduler: Instance) -> bool:
    """Whether it was built to begin somewhere, or a program that builds it sets where it is."""
    options: Value = scheduler.fields.get("scheduler: options", {})
    built = trace.snapshot.contents.get(scheduler.span.path, b"") if scheduler.span is not None else b""
    return _SETS_EPOCH.search(built) is not None or (isinstance(options, dict) and bool({"last_epoch", "*", "**"} & options.keys()))


def is_caught_up(trace: Trace, scheduler: Instance) -> bool:
    """Whether it is stepped where no optimizer steps: up to the point at which the run goes on; or told the epoch in each step."""
    loops = {number for event in trace.events(Kind.STEP) for number, _ in event.context.stamp}
    steps = [event for event in trace.events(Kind.SCHEDULER_STEP) if event.subject is scheduler]
    return any(event.detail or (event.context.stamp and not any(number in loops for number, _ in event.context.stamp)) for event in steps)
