"""What a value is when host code refused to compute it: a number read from a tensor, or something unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.values import HostFunction, Value
from analysis.library.tensor import UndecidedError
from analysis.source import Span

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain

#: Why there is a scalar: the function that the host asked a tensor by.
_ASKED = "{} of a tensor"
#: That of one that says whether a tensor is true.
TRUTH = _ASKED.format("bool")


def value_after(domain: TraceDomain, callee: Value, error: Exception, span: Span) -> Value:
    """The value instead. A handler that fails is a gap of the library's knowledge and is noted as one."""
    machine = domain.machine
    name = callee.name if isinstance(callee, HostFunction) else getattr(callee, "__name__", str(callee)[:40])
    if isinstance(error, UndecidedError) and name in {"len", "__len__"}:  # the shape is known to the host
        return domain.casting.symbol("the length of a tensor", span, machine.stamp)
    if isinstance(error, UndecidedError):
        before, machine.span = machine.span, span
        value = domain.autograd.scalar(error.tensor, _ASKED.format(name))
        machine.span = before
        return value
    if isinstance(callee, HostFunction):
        domain.failed.append((name, error))
        machine.note(span, f"{name} is called in a way that is not understood")
    return domain.casting.symbol(f"{name}(…)", span, machine.stamp)
