"""Framework code that is read like the user's own: small loops written in Python, in ``analysis/library/shims``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from analysis.source import NotAnalysed, SourceFile, read

#: Marks the path of a shim, so that nothing is ever reported in one.
SHIM = "<library>"
#: The module of each framework that a shim stands for.
SHIMS: dict[str, str] = {}


def source_of(dotted: str) -> SourceFile | None:
    """The shim that stands for the module ``dotted``, parsed once."""
    name = SHIMS.get(dotted)
    return None if name is None else _read(name)


@cache
def _read(name: str) -> SourceFile:
    path = f"{SHIM}/{name}.py"
    source = read(path, files("analysis.library").joinpath("shims", f"{name}.py").read_bytes())
    if isinstance(source, NotAnalysed):
        raise ValueError(f"{path}: {source.reason}")
    return source
