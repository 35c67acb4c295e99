"""How sure a fact read from source is: a leaf that every package imports and that imports none.

The source tells a value, or we assume it in the open, or it does not tell; there is no fourth
way, no ``None`` and no sentinel. A value that the program decides while running is not a fact: the interpreter keeps it as ``Alternatives``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: More alternatives than this say nothing any more: the value is then Unknown.
MAX_ALTERNATIVES = 8


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file: ``path`` as in the snapshot (with ``/``), ``line`` from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """The source says so, at ``because`` (None where the command line or a default of a library does)."""

    value: T_co
    because: Place | None = None


@dataclass(frozen=True, slots=True)
class Assumed(Generic[T_co]):
    """The source does not say; ``why`` is the sentence shown to the reader. ``at_most``: it says that no larger value comes."""

    value: T_co
    why: str
    because: Place | None = None
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither said nor assumable; ``why`` names what is missing."""

    why: str
    because: Place | None = None


Certainty: TypeAlias = Known[T] | Assumed[T] | Unknown
