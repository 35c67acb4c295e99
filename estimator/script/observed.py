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
    attention: str | None  # as the model's own configuration says it
    caches: bool = False  # whether its configuration says to keep keys and values
    published: str | None = None  # the name that it was loaded by


#: A stated value and the line that says it (None: no line of the repository does).
Fact = tuple[Any, Place | None]


@dataclass(slots=True)
class Observed:
    """First sights of one run; the domain writes it, the configuration is read from it."""

    calls: list[ModelCall] = field(default_factory=list)
    #: The call of the biggest model that trains; where none does, of the biggest.
    main: ModelCall | None = None
    #: Whether there was an optimizer when it was called: what comes before is a check or a look.
    optimized: bool = False
    facts: dict[str, list[Fact]] = field(default_factory=dict)
    #: Parameters of the module that trains (or infers): element counts, all and those that require gradients.
    parameters: int = 0
    trainable: int = 0
    #: Elements of each parameter that an optimizer stepped on, by identity: models that train together may be several.
    stepped: dict[int, int] = field(default_factory=dict)
    #: Bytes of that module's parameters, of those that train, and of the largest of its blocks.
    parameter_bytes: int = 0
    trainable_bytes: int = 0
    unit_bytes: int = 0
    #: Bytes of its largest item of a list of layers, and of what lies in none.
    block_bytes: int = 0
    root_bytes: int = 0
    #: Parameters that were stepped on before any model was called, by identity: the model is what they make up.
    stepped_on: set[int] = field(default_factory=set)
    #: Sentences about what was not followed, or was assumed, and may change the peak.
    unknowns: dict[str, None] = field(default_factory=dict)
    #: Those of them that are about what was lost outside every model; what reaches one takes the estimate with it.
    outside: set[str] = field(default_factory=set)
    #: What was lost inside a model, or of one: the peak is then not known.
    lost: dict[str, None] = field(default_factory=dict)
    #: The same without gradients: where the run trains as well, the evaluation is what is not known.
    lost_in_evaluation: dict[str, None] = field(default_factory=dict)
    #: A window of accumulation that was shortened, as it is written.
    window: Fact = (None, None)
    generated: bool = False
    #: The sentence about a call that was not followed and was given parameters: it may be the optimizer's.
    holder: str = ""
    #: What a sharded run keeps in host memory and in which type, by fields of ``estimator.sharding.Layout``.
    layout: dict[str, Any] = field(default_factory=dict)
    #: Parameters of parts that are gathered by themselves, by identity.
    units: dict[int, Any] = field(default_factory=dict)
    #: Results that a library's loop handed out last: bytes by the key of their storage.
    handed_out: dict[int, int] = field(default_factory=dict)

    @property
    def beside(self) -> int:
        """Elements that are trained beside those of the module that trains."""
        return max(0, sum(self.stepped.values()) - self.trainable)

    def fact(self, name: str, value: Any, place: Place | None) -> None:
        """Remember a ``value`` of a configuration field that a library call states."""
        stated = self.facts.setdefault(name, [])
        if all(value != known for known, _ in stated):
            stated.append((value, place))

    def first(self, name: str) -> Fact:
        """What was stated of that field first; (None, None) if nothing was."""
        return next(iter(self.facts.get(name, ())), (None, None))

    def place_of(self, name: str, value: Any) -> Fact | None:
        """Where ``value`` was stated for that field, if it was."""
        return next((fact for fact in self.facts.get(name, ()) if fact[0] == value), None)

    def assumed(self, sentence: str) -> None:
        """Remember an assumption, or what may change the peak without being known."""
        self.unknowns[sentence] = None
