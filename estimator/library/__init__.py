"""What names from outside mean on the tape: torch itself, the zoo behind the model libraries' names, data, and plain Python.

One file per subject, found by being there: ``NAMES`` maps dotted names to values, ``SUBJECT`` registers handlers; ``guest/`` holds modules
in Python that are interpreted, each under the path of its own dotted name.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from analysis import configuration
from analysis.interpreter.values import MISSING, Class, Value
from analysis.library.knowledge import Subject
from analysis.source import NotAnalysed, SourceFile, read
from estimator.tape import facade

#: Paths of guest modules begin so: no line of theirs is ever shown as the repository's.
PREFIX = "<library>/"
_OURS = Path(__file__).parents[1]

#: The guest sources that were read, by the path that their spans have.
_BY_PATH: dict[str, SourceFile] = {}


def source_at(path: str) -> SourceFile | None:
    """The guest source with that path; None if it is a file of the repository."""
    return _BY_PATH.get(path)


@cache
def _names() -> dict[str, Value]:
    names: dict[str, Value] = dict(facade.NAMES)
    own = [f"{__name__}.{found.name}" for found in pkgutil.iter_modules(__path__) if found.name != "guest"]
    shared = [f"{configuration.__name__}.{found.name}" for found in pkgutil.iter_modules(configuration.__path__)]
    for name in (*shared, *own):
        module = importlib.import_module(name)
        names.update(getattr(module, "NAMES", {}))
        subject = getattr(module, "SUBJECT", None)
        if isinstance(subject, Subject):
            names.update(subject.values)
            names.update({dotted: Class(dotted.rpartition(".")[2], dotted, (), dict(each.namespace)) for dotted, each in subject.classes.items()})
    return names


def lookup(dotted: str) -> Value:
    """The value of ``dotted``, or ``MISSING``."""
    return _names().get(dotted, MISSING)


@cache
def guest_module(dotted: str) -> SourceFile | None:
    """The guest source that stands for the module ``dotted``, parsed once."""
    if not all(part.isidentifier() for part in dotted.split(".")):
        return None
    if dotted.startswith("preflight_zoo."):
        return _read("zoo", dotted.removeprefix("preflight_zoo."), dotted)
    return _read("tape", dotted, dotted) or _read("library", dotted, dotted)


def _read(package: str, name: str, dotted: str) -> SourceFile | None:
    """The file of a module, or of a package's top level, below the ``guest`` folder of one of our packages."""
    for end in (".py", "/__init__.py"):
        path = _OURS / package / "guest" / f"{name.replace('.', '/')}{end}"
        if path.is_file():
            source = read(f"{PREFIX}{dotted.replace('.', '/')}{end}", path.read_bytes())
            if isinstance(source, NotAnalysed):
                raise ValueError(f"{source.path}: {source.reason}")
            _BY_PATH[source.path] = source
            return source
    return None
