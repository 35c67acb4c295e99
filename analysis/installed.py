"""What installed packages bring through entry points: rules and library knowledge. The repository under analysis never brings any."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")


class NotLoadedError(Exception):
    """A file or an installed package that should hold something does not; the message names it."""


def installed(group: str, kind: type[T]) -> Iterator[tuple[str, T]]:
    """The objects of a group with the names of their packages. Raises NotLoadedError for one that cannot be loaded or is no ``kind``."""
    for point in sorted(_points(group)):
        yield _package(point), _loaded(point, kind)


def versions(group: str) -> Iterator[str]:
    """Which packages bring something for a group, in which version."""
    return (f"{_package(point)} {point.dist.version if point.dist else ''} {point.value}" for point in sorted(_points(group)))


@cache
def _points(group: str) -> EntryPoints:
    """Those of every package: finding them reads the metadata of each."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # loads a parser of mail: who asks for nothing installed does not wait

    return entry_points(group=group)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _loaded(point: EntryPoint, kind: type[T]) -> T:
    try:
        found = point.load()
    except Exception as error:  # whatever an installed package raises on import is its fault and is reported as that
        raise NotLoadedError(f"the {kind.__name__.lower()} {point.name} of the package {_package(point)} cannot be loaded: {error}") from error
    if not isinstance(found, kind):
        raise NotLoadedError(f"the entry point {point.name} of the package {_package(point)} is not a {kind.__name__}")
    return found
