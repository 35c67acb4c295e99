"""What an estimate is asked for: an entry point or a named model, and what the caller sets over what the source says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Request:
    """``overrides`` are by field of ``TrainingConfig`` (in its values' types); ``settings`` by name of a script argument or global, as text.

    Exactly one of ``entry`` (a path of the snapshot) and ``model`` (a catalog name) is given. ``generate`` is the number
    of tokens to generate after ``context`` tokens of prompt.
    """

    entry: str | None = None
    model: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    settings: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    gpus: tuple[str, ...] = ()
    inference: bool = False
    generate: int | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        if (self.entry is None) == (self.model is None):
            raise ValueError("an estimate is of a script or of a named model: give one of the two")
