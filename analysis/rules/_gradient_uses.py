"""What becomes of the gradients of each backward: which optimizers step on them. Shared by rules, and no rule itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice

from analysis.library.parts import WITHOUT_GRAD
from analysis.library.tensor import Made, Owner, Tensor, tensors_in
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import Holdings
from analysis.rules._sources import all_in, cuts_anywhere_in, drawn_in
from analysis.rules._windows import Window, windows
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, visible
from analysis.trace.reading import around, call_at

#: Said in place of an operation where the graph was never recorded.
NO_GRAD = "no_grad"
#: Names by which gradients are switched off.
_SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")


def without_gradients_at(trace: Trace, event: Event) -> Span:
    """The call on the way to the event that stands in the block, or is one of the function, which switches gradients off.

    Where the event is visible, if none is found.
    """
    files = trace.snapshot.contents
    outwards = list(reversed(frames(event)))
    for span, caller in zip(outwards, [*outwards[1:], None], strict=True):
        stands = around(trace.snapshot, span) if span.path in files else None
        decorators = getattr(stands.function, "decorator_list", []) if stands is not None else []
        if caller is not None and any(name in ast.unparse(each) for each in decorators for name in _SWITCHES):
            return caller
        blocks = (each for each in stands.statements if isinstance(each, ast.With)) if stands is not None else ()
        if any(name in ast.unparse(item.context_expr) for block in blocks for item in block.items for name in _SWITCHES):
            return span
    return visible(event, files)


def _is_only_use(trace: Trace, cut: Span) -> bool:
    """Whether what is cut has no name, or none that is read in another place: there it keeps its graph."""
    stands = around(trace.snapshot, cut) if cut.path in trace.snapshot.contents else None
    match call_at(trace.snapshot, cut):
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if stands is not None and stands.function is not None:
            reads = (each for each in ast.walk(stands.function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
            return sum(each.id == name for each in reads) == 1
        case ast.Call(func=ast.Attribute()):
            return True
    return False


def _given_without_graph(loss: Tensor) -> list[Tensor]:
    """What the modules that a backward from ``loss`` goes through were given and that carries no graph."""
    found: list[Tensor] = []
    todo, seen = [loss], {loss}
    while todo:
        made = todo.pop().made
        for each in made.tensors if made is not None else ():
            if each.attached and each not in seen:
                seen.add(each)
                todo.append(each)
            elif not each.attached and made is not None and "module" in made.options:
                found.append(each)
    return found


class GradientUses:
    """Which optimizers step on what a backward gave."""

    def __init__(self, trace: Trace) -> None:
        self.holdings = Holdings()
        self._trace = trace
        self._gradients = list(gradients_of(trace))
        self._drawn: bool | None = None
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
        return self.steps_on(event, tensor.owners)

    def steps_on(self, event: Event, owners: Iterable[Owner]) -> bool:
        """Whether an optimizer of parameters of these owners steps on this backward's gradients."""
        held = self._by_backward.get(event, [])
        return any(window.stepped and self.holdings.shared(owners, gradients.owners) for gradients, window in held)

    def withheld(self, backward: Event) -> Iterator[Made]:
        """What keeps a loss from an optimizer which steps and to which no backward comes: cuts, and forwards of the same step under ``no_grad``.

        They stand before what a module that is trained was given: a target, a weight or a baseline is without a graph on purpose.
        """
        if not self._trace.complete or self._starves_by_drawing():
            return
        yield from self._forgotten(backward.value)
        given = _given_without_graph(backward.value)
        made = {each for value in given for each in all_in(value)}
        for event in self._trace.events(Kind.FORWARD):
            apart = event.context.grad or event.context.stamp != backward.context.stamp or self._trace.undecided(event)
            if not apart and made.intersection(tensors_in(event.value)) and self.starved([event.subject]):
                yield Made(NO_GRAD, (), {}, without_gradients_at(self._trace, event))
        cuts = (cut for value in given for cut in cuts_anywhere_in(value))
        yield from (each for each, before in cuts if _is_only_use(self._trace, each.span) and self.starved(before.owners))

    def _forgotten(self, loss: Tensor) -> Iterator[Made]:
        """Cuts that keep a loss from an optimizer to which no backward comes, where it reaches nothing but tensors that were cut off and track anew."""
        if loss.owners and all(isinstance(owner, Tensor) for owner in loss.owners):
            yield from (cut for cut, before in cuts_anywhere_in(loss) if self.starved(before.owners))

    def unrecorded(self, backward: Event, term: Tensor) -> Iterator[Made]:
        """Forwards of the same step under ``no_grad`` that made a term, of a model that this backward trains by other terms."""
        made = set(all_in(term))
        for event in self._trace.events(Kind.FORWARD):
            apart = event.context.grad or event.context.stamp != backward.context.stamp or self._trace.undecided(event)
            if not apart and made.intersection(tensors_in(event.value)) and self.steps_on(backward, [event.subject]):
                yield Made(NO_GRAD, (), {}, without_gradients_at(self._trace, event))

    def _starves_by_drawing(self) -> bool:
        """Whether a draw without a gradient is what keeps such an optimizer from its parameters: what else was made of them is no cause."""
        if self._drawn is None:
            values = [event.value for event in self._trace.events(Kind.BACKWARD)]
            self._drawn = any(self.starved(before.owners) for value in values for _, before in drawn_in(value))
        return self._drawn

    def starved(self, owners: Iterable[Owner]) -> bool:
        """Whether an optimizer of parameters of ``owners`` steps, and no backward of the whole program comes to them."""
        mine = [gradients for gradients in self._gradients if self.holdings.shared(owners, gradients.owners)]
        fed = {id(gradients) for held in self._by_backward.values() for gradients, _ in held}
        opaque = (gradients for gradients in mine for event in self._trace.events(Kind.BACKWARD, Kind.OPAQUE) if gradients.letter(event) == "opaque")
        return bool(mine) and all(id(gradients) not in fed for gradients in mine) and next(opaque, None) is None
