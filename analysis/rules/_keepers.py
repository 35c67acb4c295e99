"""What keeps a graph, in words, and how it is kept without one. Shared by rules, and no rule itself."""

from __future__ import annotations

from dataclasses import replace

from analysis.finding import Finding, Safety
from analysis.fixes.change import Proposal, Reported, WrapExpression
from analysis.interpreter.frames import Frame
from analysis.interpreter.values import Instance, Module
from analysis.library.losses import LOSSES
from analysis.library.tensor import Tensor
from analysis.rules._carriers import carrier
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind

_OPERATIONS = """
add sub mul truediv neg pow matmul mean sum exp log sqrt abs norm square stack cat view reshape squeeze unsqueeze flatten relu softmax log_softmax
sigmoid tanh linear
"""
#: Operations whose result is one tensor.
_SURELY_TENSORS = frozenset({*LOSSES.values(), *_OPERATIONS.split()})


def holder_of(store: Event) -> str:
    """What keeps the value, in words."""
    key = store.detail.key
    match store.subject:
        case Frame():
            return f"`{key}`"
        case Module():
            return f"the global `{key}`"
        case Instance():
            return f"the attribute `{key}`"
        case dict():
            return "a dictionary"
        case set():
            return "a set"
        case Tensor():
            return "a tensor that is changed in place"
        case _:
            return "a list"


def _is_a_tensor(trace: Trace, store: Event) -> bool:
    """Whether the value surely is one: PyTorch computed it, or it was added or back-propagated. What unknown code gives may be a tuple."""
    made = store.value.made
    if made is None or made.op in _SURELY_TENSORS or isinstance(store.subject, Frame):
        return made is not None
    return any(event.value.made is made for event in trace.events(Kind.BACKWARD))


def detached(trace: Trace, finding: Finding, store: Event, put: Span | None) -> Reported:
    """Detach the one expression that carries the graph: where it is ``put`` into what is kept, or at the finding's place."""
    source = trace.snapshot.source(finding.span.path)
    known = isinstance(source, SourceFile) and _is_a_tensor(trace, store)
    target = WrapExpression(put, after=".detach()") if put else carrier(source, finding.span, store) if isinstance(source, SourceFile) else None
    target = target if known else None
    if target is None:
        return Reported(replace(finding, no_fix_because="no single expression here is known to be the tensor that has to be detached"))
    unsure = not trace.complete or any(any(each is store.subject for each in event.subject) for event in trace.events(Kind.OPAQUE))
    if unsure:
        return Reported(finding, Proposal("Is the kept value only read, and never back-propagated? Then detach it", Safety.REVIEW, (target,)))
    return Reported(finding, Proposal("Keep the value without its graph: .detach()", Safety.SAFE, (target,)))
