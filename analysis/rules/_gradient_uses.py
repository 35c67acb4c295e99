"""What becomes of the gradients of each backward: which optimizers step on them. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from analysis.library.parts import WITHOUT_GRAD
from analysis.library.tensor import Tensor, tensors_in
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import Holdings
from analysis.rules._sources import all_in
from analysis.rules._windows import Window, windows
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind


class GradientUses:
    """Which optimizers step on what a backward gave."""

    def __init__(self, trace: Trace) -> None:
        self.holdings = Holdings()
        self._trace = trace
        self._gradients = list(gradients_of(trace))
        self._by_backward: dict[Event, list[tuple[Gradients, Window]]] = {}
        for gradients in self._gradients:
            for window in windows(trace, gradients):
                for event in window.backwards:
                    self._by_backward.setdefault(event, []).append((gradients, window))

    def unsure(self, event: Event) -> bool:
        """Whether it is not known what becomes of the gradients of this backward."""
        held = self._by_backward.get(event, [])
        return not held or any(window.unsure or window.end is None or not gradients.owners for gradients, window in held)

    def without_graph(self, loss: Tensor) -> Iterator[Span]:
        """Forwards under ``no_grad``, of models whose parameters an optimizer steps on, that the loss was made of: where gradients were off.

        Where such a forward began with gradients, what it gives was made without them inside; if it was not, there is another reason, which is not known.
        """
        made = set(all_in(loss))
        found = [event for event in self._trace.events(Kind.FORWARD) if made.intersection(tensors_in(event.value)) and self._is_stepped(event)]
        sure = [event for event in found if not self._trace.undecided(event)]
        if not any(event.context.grad for event in found):
            yield from (event.span for event in sure)
        elif sure == found:
            inside = (each.made for event in found for value in tensors_in(event.value) for each in all_in(value) if each.made is not None)
            yield from islice((each.span for each in inside if each.options.get(WITHOUT_GRAD) is True), 1)

    def _is_stepped(self, forward: Event) -> bool:
        return any(self.holdings.shared([forward.subject], gradients.owners) for gradients in self._gradients)

    def stepping(self, event: Event, tensor: Tensor) -> bool:
        """Whether an optimizer of parameters that the tensor reaches steps on this backward's gradients."""
        held = self._by_backward.get(event, [])
        return any(window.stepped and self.holdings.shared(tensor.owners, gradients.owners) for gradients, window in held)

    def starved(self, tensor: Tensor) -> bool:
        """Whether an optimizer of parameters that the tensor reaches steps, and no backward of the whole program comes to them."""
        mine = [gradients for gradients in self._gradients if self.holdings.shared(tensor.owners, gradients.owners)]
        fed = {id(gradients) for held in self._by_backward.values() for gradients, _ in held}
        opaque = (gradients for gradients in mine for event in self._trace.events(Kind.BACKWARD, Kind.OPAQUE) if gradients.letter(event) == "opaque")
        return bool(mine) and all(id(gradients) not in fed for gradients in mine) and next(opaque, None) is None
