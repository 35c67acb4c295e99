"""Modules and classes that are chosen by a setting: ``getattr(import_module("models." + name), name)`` is one of those that are there.

What is true of one of them is told, rather than nothing of any: the first of the package in one world, the last in the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.items import CHOSEN
from analysis.interpreter.reflection import FUNCTIONS
from analysis.interpreter.values import Call, Class, Module, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import MODULE
from analysis.library.tensor import Tensor
from analysis.source import NotAnalysed

SUBJECT = Subject(
    examples=(
        Example(
            """
from importlib import import_module
import torch

kind = getattr(import_module("torch.optim"), "SGD")
kind([torch.nn.Parameter(torch.ones(1))], lr=0.1).step()
""",
            ("optimizer_built SGD", "step SGD"),
        ),
    ),
)


@SUBJECT.function("importlib.import_module")
def _import_module(call: Call) -> Value:
    """A module of the repository or a library, by its name or by what its name begins with."""
    name, package = call.get(0, "name"), call.get(1, "package")
    importer = call.machine.here.file.path
    if isinstance(name, str):
        dotted = f"{package}{name}" if name.startswith(".") and isinstance(package, str) else name
        return call.machine.import_module(dotted, importer)
    domain = domain_of(call)
    found = sorted(_below(call, _beginning(name), importer))
    if not found:
        return domain.casting.result(call, "import_module()", name)
    module = call.machine.load(found[0] if domain.world.flags else found[-1])
    for each in module.vars.values() if len(found) > 1 else ():
        if isinstance(each, Class):
            each.metadata[CHOSEN] = True
    return module


def _beginning(name: Value) -> str:
    """The package that the name of an unknown module begins with, "" if that is not told."""
    match name:
        case Symbol(test=("+", str() as start, _)) | Symbol(test=("text", str() as start, *_)):
            return start.rpartition(".")[0]
        case Symbol(test=("+", Symbol() as inner, _)):
            return _beginning(inner)
    return ""


def _below(call: Call, package: str, importer: str) -> Iterator[str]:
    """The files of a package that speak of modules of a network."""
    machine = call.machine
    there = frozenset(machine.snapshot.contents)  # which files there are decides: a run that asked for all is not kept for others
    for path in machine.modules.all_of(f"{package}.*", importer, machine.entry_path) if package else ():
        source = machine.snapshot.source(path)
        if path in there and not path.endswith("__init__.py") and not isinstance(source, NotAnalysed) and b"Module" in source.content:
            yield path


@SUBJECT.function("builtins.getattr")
def _getattr(call: Call) -> Value:
    """An attribute; by a name that is not told, of a module of the repository one of its models, of a model's output one of its parts."""
    if isinstance(call.args[0], Tensor) and not isinstance(call.args[1], str):
        return call.machine.getitem(call.args[0], call.args[1], call.span)
    if isinstance(call.args[0], Module) and isinstance(call.args[1], Symbol):
        models = [value for value in call.args[0].vars.values() if isinstance(value, Class) and value.span is not None and value.has_base(MODULE)]
        tail = call.args[0].name.rpartition(".")[2].replace("_", "")
        named = [each for each in models if each.name.lower() == tail]
        if models:
            return (named or models)[-1]
    return FUNCTIONS["getattr"](call)
