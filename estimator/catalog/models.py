"""Named models: which family of the zoo builds one, and with which configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from estimator.catalog.names import index_by_key, look_up
from estimator.catalog.stanzas import stanzas


@dataclass(frozen=True, slots=True)
class Model:
    """A published model. ``config`` holds what differs from the family's defaults, under the library's own argument names."""

    name: str
    family: str  # a name of ``estimator.zoo.families()``
    config: Mapping[str, Any]
    dtype: str  # of the published weights: "float32", "bfloat16", "float16"
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()


@cache
def models() -> tuple[Model, ...]:
    """Every named model, in the order of the table."""
    return tuple(
        Model(
            name=entry["name"],
            family=entry["family"],
            config=MappingProxyType(entry.get("config", {})),
            dtype=entry["dtype"],
            sources=tuple(entry["sources"]),
            aliases=tuple(entry.get("aliases", ())),
        )
        for entry in stanzas("models.toml", "model")
    )


#: An owner whose models have the short names of another's: they are known with the owner in front alone.
_IN_FULL = "timm/"


def _names_of(entry: Model) -> set[str]:
    """All the names a model answers to: with its owner in front and without."""
    full = {entry.name, *entry.aliases}
    return full | {name.rsplit("/", 1)[-1] for name in full if not name.startswith(_IN_FULL)}


@cache
def _index() -> dict[str, Model]:
    return index_by_key(((name, entry) for entry in models() for name in sorted(_names_of(entry))), "models.toml")


def model(name: str) -> Model:
    """The model called ``name``. Raises ``UnknownNameError`` naming the nearest."""
    return look_up(_index(), name, "model", [label for entry in models() for label in (entry.name, entry.name.rsplit("/", 1)[-1])], "models")
