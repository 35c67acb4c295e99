"""The order of a loader's samples where a class of the program's own decides it: its first item is taken, so that what it draws from is seen."""

from __future__ import annotations

from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import Call, Function, Instance
from analysis.library.domain import TraceDomain
from analysis.library.randomness import LOADING

#: Of a loader: its sampler's order was begun once.
_ORDERED = "loader: order was drawn"


def order(domain: TraceDomain, call: Call, loader: Instance) -> None:
    """Begin the order of each sampler of ``loader`` whose class the program defines, once."""
    if loader.fields.get(_ORDERED) is True:
        return
    domain.machine.heap.write(loader.fields, _ORDERED, True)  # noqa: FBT003
    for name in ("sampler", "batch_sampler"):
        sampler = loader.fields.get(name)
        if isinstance(sampler, Instance) and isinstance(sampler.cls.find("__iter__"), Function):
            before = domain.machine.state.get(LOADING)
            domain.machine.state[LOADING] = sampler
            try:
                next(iter(call.machine.iterate(sampler, call.span)), None)
            except GuestRaise:
                domain.machine.note(call.span, f"the order of {sampler.cls.name} ends in an exception: it is not known")
            finally:
                domain.machine.state[LOADING] = before
