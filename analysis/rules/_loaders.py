"""Loaders and what decides the order of their samples. Shared by rules, and no rule itself."""

from __future__ import annotations

from analysis.interpreter.values import Alternatives, Instance, Value
from analysis.library.optimizers import PREPARED

#: Samplers inside samplers are followed so far: deeper nesting is a cycle.
_MOST = 8
DISTRIBUTED_SAMPLER = "torch.utils.data.DistributedSampler"


def samplers_of(loader: Value) -> list[Instance]:
    """The samplers behind a loader: its own, and those inside a batch sampler."""
    found: list[Instance] = []
    todo = [loader.fields.get("sampler"), loader.fields.get("batch_sampler")] if isinstance(loader, Instance) else []
    while todo and len(found) < _MOST:
        each = todo.pop()
        if isinstance(each, Alternatives):
            todo.extend(each.values)
        elif isinstance(each, Instance):
            found.append(each)
            todo.append(each.fields.get("sampler"))
    return found


def divides(sampler: Instance) -> bool:
    """Whether it is PyTorch's own sampler that gives each rank its share."""
    return sampler.cls.dotted == DISTRIBUTED_SAMPLER


def shuffles(sampler: Instance) -> bool:
    """Whether it surely draws a new order from its seed and epoch."""
    return sampler.fields.get("shuffle", True) is True


def prepared(loader: Instance) -> bool:
    """Whether a framework has taken it over: it looks after the sampler itself."""
    return PREPARED in loader.fields
