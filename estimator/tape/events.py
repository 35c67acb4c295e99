"""The log of a run: storages born and dying, what they turned out to be, and phases."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

from analysis.certainty import Place

#: Device memory is handed out in multiples of this (``kMinBlockSize`` of CUDACachingAllocator.cpp).
GRANULE = 512


class Kind(Enum):
    """What a storage is, in the words of the report."""

    __hash__ = object.__hash__  # there is one of each: no need to go by the name

    PARAMETERS = "parameters"
    GRADIENTS = "gradients"
    OPTIMIZER_STATE = "optimizer_state"
    ACTIVATIONS = "activations"
    KV_CACHE = "kv_cache"
    TEMPORARY = "temporary"
    BUFFERS = "buffers"


class Phase(Enum):
    """Where in an iteration the run is. Building the model and moving data count as forward."""

    __hash__ = object.__hash__  # there is one of each: no need to go by the name

    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER_STEP = "optimizer_step"
    DECODE = "decode"


class Allocated(NamedTuple):
    """Storage ``key`` of ``size`` bytes (a multiple of 512) was made at ``place``."""

    key: int
    size: int
    kind: Kind
    place: Place | None


class Freed(NamedTuple):
    """The last reference to storage ``key`` ended."""

    key: int


class Became(NamedTuple):
    """Storage ``key`` turned out to be of ``kind``: a parameter, a gradient, a buffer."""

    key: int
    kind: Kind


class Entered(NamedTuple):
    """The run went on in ``phase``."""

    phase: Phase


class MightTake(NamedTuple):
    """For a moment ``size`` bytes more may be taken here: two gradients of a shared weight are summed, in place as a rule."""

    size: int


Event: TypeAlias = Allocated | Freed | Became | Entered | MightTake


def rounded(size: int) -> int:
    """``size`` bytes as the allocator counts them."""
    return -(-size // GRANULE) * GRANULE
