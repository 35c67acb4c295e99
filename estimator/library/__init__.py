"""What names from outside mean on the tape: torch itself, the zoo behind the model libraries' names, data, and plain Python.

One file per subject, found by being there: ``NAMES`` maps dotted names to values, ``SUBJECT`` registers handlers; ``guest/`` holds modules in Python that are interpreted.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.resources import files

from analysis.interpreter.values import MISSING, Class, Value
from analysis.library.knowledge import Subject
from analysis.source import NotAnalysed, SourceFile, read
from estimator.tape import facade

#: Paths of guest modules begin so: no line of theirs is ever shown as the repository's.
PREFIX = "<library>/"


@cache
def _names() -> dict[str, Value]:
    names: dict[str, Value] = dict(facade.NAMES)
    for found in pkgutil.iter_modules(__path__):
        if found.name == "guest":
            continue
        module = importlib.import_module(f"{__name__}.{found.name}")
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
    text = facade.guest_source(dotted)
    for package, name in ((__name__, dotted.replace(".", "_")), ("estimator.zoo", zoo_file(dotted))):
        resource = files(package).joinpath("guest", f"{name}.py") if name else None
        if text is None and resource is not None and resource.is_file():
            text = resource.read_text(encoding="utf-8")
    if text is None:
        return None
    tail = "/__init__.py" if facade.GUEST.get(dotted, "").endswith("/__init__.py") else ".py"
    source = read(f"{PREFIX}{dotted.replace('.', '/')}{tail}", text.encode())
    if isinstance(source, NotAnalysed):
        raise ValueError(f"{source.path}: {source.reason}")
    return source


def zoo_file(dotted: str) -> str:
    """The zoo's file for ``preflight_zoo.gpt2``."""
    package, _, name = dotted.partition(".")
    return name if package == "preflight_zoo" else ""
