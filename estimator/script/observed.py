"""What a run was seen to do: the facts from which its configuration and its mode are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analysis.certainty import Place


@dataclass(frozen=True, slots=True)
class Argument:
    """A tensor that arrived at a model: shapes only, so that watching keeps nothing alive."""

    name: str  # of the parameter, "" where it was passed by position
    shape: tuple[int, ...]
    integer: bool
    place: Place | None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a top-level module: which, with what, and in which state of the process."""

    name: str
    arguments: tuple[Argument, ...]
    place: Place | None
    parameter_dtype: str
    autocast: str | None  # dtype name while autocast is on
    grad: bool
    made: Place | None  # where the module was constructed


@dataclass(slots=True)
class Observed:
    """First sights of one run; the domain writes it, the configuration is read from it."""

    calls: list[ModelCall] = field(default_factory=list)
    facts: dict[str, tuple[Any, Place | None]] = field(default_factory=dict)
    #: Parameters of the module that trains (or infers): element counts, all and those that require gradients.
    parameters: int = 0
    trainable: int = 0
    #: Sentences about what was not followed and may change the peak.
    unknowns: dict[str, None] = field(default_factory=dict)
    #: Operations on tensors inside a model that were lost: the peak is then not known.
    lost: dict[str, None] = field(default_factory=dict)

    def fact(self, name: str, value: Any, place: Place | None) -> None:
        """Remember the first ``value`` of a configuration field that a library call states."""
        self.facts.setdefault(name, (value, place))
