"""What becomes of the gradients of each backward: which optimizers step on them. Shared by rules, and no rule itself."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.library.tensor import Tensor, tensors_in
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import Holdings
from analysis.rules._sources import all_in
from analysis.rules._windows import Window, windows
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

    def without_graph(self, loss: Tensor) -> Iterator[Event]:
        """Forwards under ``no_grad``, of models whose parameters an optimizer steps on, that the loss was made of.

        None where such a forward ran with gradients too: that its result has no graph then has another reason, which is not known.
        """
        made = set(all_in(loss))
        found = [event for event in self._trace.events(Kind.FORWARD) if made.intersection(tensors_in(event.value)) and self._is_stepped(event)]
        if not any(event.context.grad for event in found):
            yield from (event for event in found if not self._trace.undecided(event))

    def _is_stepped(self, forward: Event) -> bool:
        return any(self.holdings.shared([forward.subject], gradients.owners) for gradients in self._gradients)

    def stepping(self, event: Event, tensor: Tensor) -> bool:
        """Whether an optimizer of parameters that the tensor reaches steps on this backward's gradients."""
        held = self._by_backward.get(event, [])
        return any(window.stepped and self.holdings.shared(tensor.owners, gradients.owners) for gradients, window in held)
