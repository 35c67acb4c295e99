"""What an estimate is asked for: an entry point or a named model, and what the caller sets over what the source says."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from estimator.sources import Shelf

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
    #: The words after the script on the line that starts it, those of them that have a name, and what its launcher was given beside the number of
    #: processes (``config_file``).
    arguments: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    launcher: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    #: The line that starts the script so, as "run.sh:12"; None for a start without arguments.
    started_at: str | None = None
    #: Whether the lines of the repository that start the script are looked for, each an estimate of its own.
    every_start: bool = True
    #: Where releases of model libraries lie, for families that the zoo lacks.
    shelf: Shelf | None = None

    def __post_init__(self) -> None:
        if (self.entry is None) == (self.model is None):
            raise ValueError("an estimate is of a script or of a named model: give one of the two")


def as_value(text: str) -> Any:
    """A setting as the program would have it: a number, a truth value or a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text.lower(), text)
