"""An estimate: the bytes alive at the peak by component, what holds them, and on which cards they fit.

Every number is in bytes and for one rank. ``None`` stands where the model could not be resolved: then
``unknowns`` says what is missing and every verdict is ``cannot_tell``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from analysis.certainty import Place
from estimator.config import TrainingConfig


class Mode(Enum):
    """What the entry point does with the model."""

    TRAINING = "training"
    INFERENCE = "inference"
    GENERATION = "generation"


class Verdict(Enum):
    """``FITS``: even the pessimistic end does; ``DOES_NOT_FIT``: even the optimistic end does not."""

    FITS = "fits"
    BORDERLINE = "borderline"
    DOES_NOT_FIT = "does_not_fit"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Interval:
    """``low`` ≤ truth ≤ ``high``, in bytes, given the assumptions listed beside it."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Components:
    """Bytes alive at the peak; they add up to the peak that nvidia-smi would show."""

    parameters: int = 0
    gradients: int = 0
    optimizer_state: int = 0
    activations: int = 0
    kv_cache: int = 0
    temporary: int = 0
    buffers: int = 0
    context: int = 0
    fragmentation: int = 0


@dataclass(frozen=True, slots=True)
class Holder:
    """A source line and the bytes it holds at the peak; ``what`` says what they are."""

    place: Place
    bytes: int
    what: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One resolved run: the peak, its parts and its interval."""

    parameters: int  # number of elements
    trainable_parameters: int
    components: Components
    allocated_bytes: int  # what torch.cuda.max_memory_allocated() would say
    allocated_interval: Interval
    peak_bytes: int  # what nvidia-smi would show for the process
    interval: Interval
    peak_at: str  # forward | backward | optimizer_step | decode
    largest: tuple[Holder, ...] = ()
    phases: tuple[tuple[str, int], ...] = ()  # the most allocated within each phase, in bytes, in the order of the run
    course: tuple[int, ...] = ()  # the most allocated in each of equal stretches of one iteration, in bytes


@dataclass(frozen=True, slots=True)
class Fit:
    """The verdict for one card; ``usable_bytes`` is what a process can have, context included."""

    gpu: str
    usable_bytes: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that saves memory, estimated by running it; ``cost`` says what it costs in speed or quality."""

    change: str
    saves_bytes: int
    peak_bytes: int
    fits: bool
    cost: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """One entry point in one configuration."""

    entry: str
    mode: Mode
    config: TrainingConfig
    memory: Memory | None
    unknowns: tuple[str, ...] = ()
    fits: tuple[Fit, ...] = ()
    remedies: tuple[Remedy, ...] = field(default=())
    started_at: str | None = None  # the line that starts it so, as "run.sh:12"; None for a start without arguments
