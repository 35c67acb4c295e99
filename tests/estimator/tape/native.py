"""Runs guest programs under Python itself: a ``torch`` made of the facade, imported by them alone."""

from __future__ import annotations

import builtins
from importlib.resources import files
from pathlib import Path
from types import ModuleType

from estimator.tape.facade import NAMES, REEXPORTS, guest_modules, guest_source
from estimator.tape.run import Tape

PROGRAMS = Path(__file__).parent / "guest"
_PACKAGES = {"preflight_zoo", *(dotted.partition(".")[0] for dotted in guest_modules())}
_DOTTED = {*NAMES, *guest_modules(), *REEXPORTS}


class _Facade(ModuleType):
    """A module whose names are looked up when they are first asked for."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        library, dotted = self.__dict__["_library"], f"{self.__name__}.{name}"
        if dotted in NAMES:
            value = NAMES[dotted]
        elif dotted in REEXPORTS:
            owner, _, attribute = REEXPORTS[dotted].rpartition(".")
            value = getattr(library.load(owner), attribute)
        elif _zoo_source(dotted) or any(full == dotted or full.startswith(f"{dotted}.") for full in _DOTTED):
            value = library.load(dotted)
        else:
            raise AttributeError(dotted)
        setattr(self, name, value)
        return value


def _zoo_source(dotted: str) -> str | None:
    """The source of a model family."""
    package, _, name = dotted.partition(".")
    if package != "preflight_zoo" or not name:
        return None
    file = files("estimator.zoo").joinpath("guest", f"{name}.py")
    return file.read_text(encoding="utf-8") if file.is_file() else None


class Library:
    """The imaginary PyTorch's modules; guest source runs when its module is first imported."""

    def __init__(self) -> None:
        self.modules: dict[str, _Facade] = {}

    def load(self, dotted: str) -> ModuleType:
        """The module."""
        if dotted not in self.modules:
            module = self.modules[dotted] = _Facade(dotted)
            module.__dict__["_library"] = self
            source = guest_source(dotted) or _zoo_source(dotted)
            if source is not None:
                self.run(source, module.__dict__, dotted)
        return self.modules[dotted]

    def run(self, source: str, names: dict, where: str) -> None:
        """Execute guest source."""
        names["__builtins__"] = {**builtins.__dict__, "__import__": self._import}
        names.setdefault("__name__", where)
        exec(compile(source, where, "exec"), names)

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
        """``import`` of the guest: PyTorch's names are ours, the rest is Python's."""
        package = name.partition(".")[0]
        if package not in _PACKAGES:
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = self.load(name)
        return module if fromlist else self.load(package)


def run(program: str, generation: int = 80, **names) -> Tape:
    """The tape after a program of ``guest/`` ran with ``names`` as its globals."""
    tape = Tape(generation)
    tape.number = lambda _: 1.0
    with tape.active():
        Library().run((PROGRAMS / f"{program}.py").read_text(), dict(names), program)
    return tape
