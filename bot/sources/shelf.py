"""Which model libraries' source is at hand, in which versions, and where it lies."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from estimator.zoo import mirrored

#: The libraries that define models or change them. What a wheel holds beside the package of that name is left out.
LIBRARIES = ("transformers", "torchvision", "timm", "diffusers", "peft", "ultralytics")
#: A release as it is asked for: digits, and perhaps a pre-release or post-release.
VERSION = re.compile(r"\d+(\.\d+){0,3}((a|b|rc)\d+)?(\.post\d+)?")
_DISTRIBUTION = re.compile(r"\w+-(.+)\.dist-info")


@dataclass(frozen=True, slots=True)
class Source:
    """One library's source. ``origin`` is ``environment``, ``added`` or ``zoo``; ``path`` is None where it is part of this package."""

    library: str
    version: str
    origin: str
    path: Path | None


def data_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The user's folder for data of this program, by the custom of the system."""
    home = Path.home()
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "preflight"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "preflight"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "preflight"


def shelf(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of the sources that were added: that of ``PREFLIGHT_SOURCES_DIR``, else one of the user's."""
    named = environment.get("PREFLIGHT_SOURCES_DIR")
    return Path(named) if named else data_folder(environment) / "sources"


def usual() -> tuple[str, ...]:
    """The releases that the container brings, each as NAME==VERSION."""
    lines = Path(__file__).with_name("releases.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def sources(folder: Path | None = None) -> Iterator[Source]:
    """Every source at hand, by library: what is installed beside this program, what was added, what the zoo mirrors."""
    folder = shelf() if folder is None else folder
    zoo = mirrored()
    for library in LIBRARIES:
        yield from _installed(library)
        yield from sorted(_added(library, folder), key=lambda each: [int(part) for part in re.findall(r"\d+", each.version)], reverse=True)
        if library in zoo:
            yield Source(library, zoo[library], "zoo", None)


def _installed(library: str) -> Iterator[Source]:
    """The one that Python would import, by the names in its folders: ``importlib.metadata`` loads a parser of mail for as much."""
    for folder in map(Path, sys.path):
        version = next((found[1] for name in _names(folder) if (found := _DISTRIBUTION.fullmatch(name)) and found[0].startswith(f"{library}-")), None)
        if version is not None and (folder / library).is_dir():
            yield Source(library, version, "environment", folder / library)
            return


@cache
def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else ()


def _added(library: str, folder: Path) -> Iterator[Source]:
    versions = folder / library
    if versions.is_dir():
        for version in versions.iterdir():
            if VERSION.fullmatch(version.name) and (version / library).is_dir():
                yield Source(library, version.name, "added", version / library)
