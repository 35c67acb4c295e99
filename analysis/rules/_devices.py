"""Whether a program computes on a device of its own, and what goes there. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.interpreter.values import Symbol, Value
from analysis.trace import Trace
from analysis.trace.events import Event, Kind

_HOST = "cpu"
_ACCELERATORS = ("cuda", "xpu", "mps", "npu", "hpu")


def uses_device(trace: Trace) -> bool:
    """Whether a model, or what it is given, is moved somewhere that may not be the host."""
    return any(goes_to_device(event) for event in trace.events(Kind.TO_DEVICE))


def goes_to_device(event: Event) -> bool:
    """Whether a move may go to another device than the host."""
    return any(_is_device(value) for value in event.detail)


def goes_to_host(event: Event) -> bool:
    """Whether a move surely goes to the host."""
    return any(value == _HOST for value in event.detail if isinstance(value, str))


def _is_device(value: Value) -> bool:
    return value.startswith(_ACCELERATORS) if isinstance(value, str) else isinstance(value, Symbol) or (isinstance(value, int) and not isinstance(value, bool))
