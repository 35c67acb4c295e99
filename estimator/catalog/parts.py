"""What scripts name beside the models that the zoo builds.

Parts of published pipelines, by the pipeline's name and the folder that a part lies in, and models of families that only their library's own source
builds.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from estimator.catalog.models import Model, model
from estimator.catalog.names import UnknownNameError, index_by_key, key_of
from estimator.catalog.stanzas import stanzas


@cache
def parts() -> tuple[Model, ...]:
    """Every part, in the order of the tables; the family of some is a library's dotted class, which that library's own source builds."""
    return tuple(
        Model(
            name=entry["names"][0],
            family=entry["family"],
            config=MappingProxyType(entry.get("config", {})),
            dtype=entry["dtype"],
            sources=(entry["source"],),
            aliases=tuple(entry["names"][1:]),
        )
        for entry in (*stanzas("parts.toml", "part"), *stanzas("library_models.toml", "model"))
    )


@cache
def _index() -> dict[str, Model]:
    return index_by_key(((name, entry) for entry in parts() for name in (entry.name, *entry.aliases)), "parts.toml and library_models.toml")


def part(name: str) -> Model | None:
    """The part called ``name``; None where there is none of that name."""
    return _index().get(key_of(name))


def catalog_name(name: str) -> str:
    """The name in the catalog of a model or part that is called ``name``, or ``name`` itself."""
    try:
        return (part(name) or model(name)).name
    except UnknownNameError:
        return name
