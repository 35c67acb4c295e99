"""Events as the gradients of one optimizer see them. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.interpreter.values import Instance, Value
from analysis.library.optimizers import parameters_of
from analysis.library.ownership import is_module
from analysis.library.tensor import Tensor
from analysis.rules._objects import Concern, Holdings, concern, optimizers, owners_in_subject
from analysis.trace import Trace
from analysis.trace.automaton import Letter
from analysis.trace.events import Event, Kind

#: The kinds of events that ``Gradients.letter`` reads.
GRADIENT_EVENTS = (Kind.BACKWARD, Kind.STEP, Kind.ZERO_GRAD, Kind.CLIP, Kind.UNSCALE, Kind.GRADIENT_USE, Kind.OPAQUE)
_ARITHMETIC = frozenset({"truediv", "mul", "add", "sub", "sum", "mean"})
_DEEPEST = 20


def gradients_of(trace: Trace) -> list[Gradients]:
    """The gradients of every optimizer that steps in the trace."""
    known = optimizers(trace)
    holdings = Holdings()
    return [Gradients(optimizer, holdings, alone=len(known) == 1) for optimizer in known]


def scaler_of(loss: Tensor) -> Instance | None:
    """The enabled scaler that a loss went through, whatever arithmetic followed."""
    for _ in range(_DEEPEST):
        made = loss.made
        if made is None:
            return None
        if made.op == "scale" and "scaler" in made.options:  # else a method of that name, of something that is not known
            scaler = made.options["scaler"]
            return scaler if isinstance(scaler, Instance) and scaler.fields.get("scaler: enabled") is not False else None
        inner = next(iter(made.tensors), None)
        if inner is None or made.op not in _ARITHMETIC:
            return None
        loss = inner
    return None


class Gradients:
    """The gradients of ``optimizer``; ``alone``: a backward through an unknown graph can only be meant for it."""

    def __init__(self, optimizer: Instance, holdings: Holdings, *, alone: bool) -> None:
        self.optimizer = optimizer
        # A module in which no parameters were found was not understood: its parameters may be any.
        self.owners = parameters_of(optimizer) if holdings.known(parameters_of(optimizer)) else ()
        self._holdings = holdings
        self._alone = alone

    def letter(self, event: Event) -> Letter | None:
        """``backward``, ``step``, ``zero``, ``clip``, ``unscale``, ``use`` (by hand), or ``opaque`` where anything may have happened."""
        match event.kind:
            case Kind.BACKWARD:
                return self._backward(event)
            case Kind.STEP:
                return {Concern.YES: "step", Concern.MAYBE: "opaque", Concern.NO: None}[concern(event.subject, self.optimizer)]
            case Kind.ZERO_GRAD:
                return "zero" if self.touches(event.subject) else None
            case Kind.CLIP:
                return "clip" if self.touches(event.subject) else None
            case Kind.GRADIENT_USE:
                return "use" if self.touches(event.subject) else None
            case Kind.UNSCALE:
                return "unscale" if concern(event.value, self.optimizer) is not Concern.NO else None
            case Kind.OPAQUE:
                return "opaque" if any(self.touches(each) for each in event.subject) else None
            case _:
                return None

    def _backward(self, event: Event) -> Letter | None:
        if self.owners and event.value.owners and self._holdings.known(event.value.owners):
            return "backward" if self._holdings.shared(event.value.owners, self.owners) else None
        return "backward" if self._alone else "opaque"

    def surely_all(self, event: Event) -> bool:
        """Whether what is done to gradients is done to all of this optimizer's."""
        if concern(event.subject, self.optimizer) is Concern.YES:
            return True
        held = owners_in_subject(event.subject)
        return not (held and self.owners) or self._holdings.covers(held, self.owners)

    def touches(self, subject: Value) -> bool:
        """Whether something done to ``subject`` may concern these gradients."""
        if concern(subject, self.optimizer) is not Concern.NO:
            return True
        held = owners_in_subject(subject)
        # Parameters that are not known may be any; only another optimizer's are surely not meant.
        return self._holdings.shared(held, self.owners) if held and self.owners else not isinstance(subject, Instance) or is_module(subject)
