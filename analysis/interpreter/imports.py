"""Imports: a module of the repository is loaded once and its top level run; everything else is ``External``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.interpreter.frames import Frame
from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import MISSING, External, Module, Value
from analysis.source import NotAnalysed, SourceFile

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine


def import_module(machine: Machine, dotted: str, importer: str) -> Value:
    """The module ``dotted`` as the file ``importer`` sees it: a ``Module`` or an ``External``."""
    path = machine.modules.resolve(dotted, importer, machine.entry_path)
    if path is not None:
        return machine.load(path, machine.modules.dotted_name(path) if dotted.startswith(".") else dotted)
    guest = machine.domain.guest_source(dotted)
    if guest is not None:
        return run_top_level(machine, guest, dotted)
    return External(dotted)


def load(machine: Machine, path: str, name: str = "") -> Value:
    """The module in the file ``path``, run on first sight after the packages that hold it; a file that cannot be read is ``External``."""
    known = machine.loaded.get(path)
    if known is not None:
        return known
    source = machine.snapshot.source(path)
    if isinstance(source, NotAnalysed):
        return External(name or path)
    if name != "__main__":
        for package in machine.modules.packages_above(path):
            load(machine, package)
    return run_top_level(machine, source, name or dotted_name(path))


def run_top_level(machine: Machine, source: SourceFile, name: str) -> Module:
    """Execute a file as the module ``name``. An exception in it ends the module where it stands, as it would the import."""
    known = machine.loaded.get(source.path)
    if known is not None:
        return known
    module = Module(name, source, {"__name__": name, "__file__": source.path})
    machine.loaded[source.path] = module
    frame = Frame(module, module.vars, qualname="", stamp=machine.stamp)
    before, loops, machine.frame = machine.frame, machine.stamp, frame
    machine.stamp = ()
    try:
        machine.execute(source.tree.body, frame)
    except GuestRaise as error:
        if name == "__main__":
            machine.frame, machine.stamp = before, loops
            raise
        span = error.span or source.span(source.tree.body[0])
        machine.note(span, f"{source.path} stops here while it is imported: {describe(error.value)}")
    machine.frame, machine.stamp = before, loops
    return module


def describe(exception: Value) -> str:
    """A guest exception in a few words."""
    cls = getattr(exception, "cls", None)
    name = cls.name if cls is not None else str(exception)
    args = getattr(exception, "fields", {}).get("args", ())
    return f"{name}: {args[0]}" if args and isinstance(args[0], str) else name


def dotted_name(path: str) -> str:
    """``src/models/net.py`` → ``src.models.net``."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def from_import(machine: Machine, module: Value, name: str, importer: str) -> Value:
    """``from module import name``: an attribute, or else a submodule."""
    if isinstance(module, Module):
        value = module.vars.get(name, MISSING)
        if value is not MISSING:
            return value
        path = submodule_path(machine, module, name)
        if path is not None:
            return machine.load(path, f"{module.name}.{name}")
        return _module_getattr(machine, module, name)
    if isinstance(module, External):
        asked = (module.dotted, name, importer)
        if asked not in machine.found_outside:
            machine.found_outside[asked] = _from_outside(machine, f"{module.dotted}.{name}", importer)
        return machine.found_outside[asked]
    return machine.getattr(module, name, machine.span)


def _from_outside(machine: Machine, dotted: str, importer: str) -> Value:
    """What a dotted name that is no module of the repository by its first part stands for."""
    path = machine.modules.resolve(dotted, importer, machine.entry_path)
    if path is not None:
        return machine.load(path, dotted)
    submodule = machine.domain.guest_source(dotted)
    if submodule is not None:
        return run_top_level(machine, submodule, dotted)
    value = machine.domain.lookup(dotted)
    return External(dotted) if value is MISSING else value


def submodule_path(machine: Machine, module: Module, name: str) -> str | None:
    """The file of a package's submodule."""
    if not module.file.path.endswith("__init__.py"):
        return None
    return machine.modules.resolve(f".{name}", module.file.path, machine.entry_path)


def _module_getattr(machine: Machine, module: Module, name: str) -> Value:
    """A name that the module does not define: an import cycle, a lazy module or a truncated top level."""
    span = module.file.span(module.file.tree.body[0]) if module.file.tree.body else machine.span
    return machine.domain.unknown_attribute(machine, External(module.name), name, span)
