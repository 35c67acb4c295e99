"""``getattr`` and ``hasattr`` of modules, whose parameters, buffers and children are kept by name in groups of their own, and what a function is given."""

from __future__ import annotations

import ast

from analysis.interpreter.values import MISSING, Call, Class, Function, GuestDict, HostFunction, Instance, Symbol, Value
from estimator.library import bounds, evaluated
from estimator.library.tokens import BUILTINS_HERE
from estimator.tape.attributes import is_module

_GROUPS = ("_parameters", "_buffers", "_modules")


def _has(value: Value, name: Value) -> bool | None:
    """Whether a module has an attribute of that name; None where the value is none, or its class answers for itself."""
    if not isinstance(value, Instance) or not isinstance(name, str) or not is_module(value):
        return None
    if name in value.fields or value.cls.find(name) is not MISSING or any(name in value.fields.get(group, ()) for group in _GROUPS):
        return True
    asks = next((cls for cls in value.cls.mro if "__getattr__" in cls.namespace), None)
    return False if asks is not None and asks.dotted.startswith("torch.nn.") else None


def _getattr(call: Call) -> Value:
    if call.given(2, "default") and _has(call.args[0], call.args[1]) is False:
        return call.args[2]
    return BUILTINS_HERE["getattr"].run(call)


def _hasattr(call: Call) -> Value:
    answer = _has(call.args[0], call.args[1])
    return BUILTINS_HERE["hasattr"].run(call) if answer is None else answer


def _given_arguments(call: Call) -> Value:
    """What a method gets beside the object, by the names of its parameters: the arguments, and the defaults of those that are left out."""
    method, args, kwargs = call.args
    names = [argument.arg for argument in method.node.args.args]
    defaults = dict(zip(reversed(names), reversed(method.defaults), strict=False)) | method.kw_defaults
    given = dict(zip(names, args, strict=False)) | dict(kwargs)
    everything = {name: given.get(name, defaults.get(name)) for name in (*names[1:], *method.kw_defaults)}
    return GuestDict(everything | {name: value for name, value in kwargs.items() if name not in everything})


def _constructor_classes(call: Call) -> Value:
    """The parameters of a class's constructor with the classes that they are annotated with; None for what is no class here."""
    init = call.args[0].find("__init__")
    while isinstance(init, Function) and "__wrapped__" in init.fields:
        init = init.fields["__wrapped__"]
    if not isinstance(init, Function):
        return GuestDict({})
    arguments = init.node.args.args[1:]
    return GuestDict({each.arg: _annotated(init, each.annotation) for each in arguments})


def _annotated(function: Function, annotation: ast.expr | None) -> Value:
    """The first class of an annotation: of ``A | None`` that of A."""
    names = (node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)) if annotation is not None else ()
    return next((value for name in names if isinstance(value := function.module.vars.get(name), Class)), None)


def _module(call: Call) -> Value:
    """``sys.modules[name]``: of the repository's modules, the one of that name."""
    machine, name = call.machine, call.args[1]
    if name == "__main__":
        return machine.loaded.get(machine.entry_path)
    return machine.import_module(name, machine.entry_path) if isinstance(name, str) else Symbol("a module", call.span)


def _is_loaded(call: Call) -> Value:
    return any(module.name == call.args[1] for module in call.machine.loaded.values())


#: ``sys.modules``: whoever asks for a module by its name gets it; ``get`` only what was imported before.
_LOADED = Instance(
    Class(
        "dict",
        "sys.modules",
        (),
        {
            "__getitem__": HostFunction("sys.modules.__getitem__", _module),
            "__contains__": HostFunction("sys.modules.__contains__", _is_loaded),
            "get": HostFunction("sys.modules.get", lambda call: _module(call) if _is_loaded(call) else call.get(2, "default")),
        },
    )
)

NAMES: dict[str, Value] = {"sys.modules": _LOADED} | {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function) for function in (_given_arguments, _constructor_classes)
}
#: Python's own, with these.
BUILTINS: dict[str, Value] = {
    **BUILTINS_HERE,
    **evaluated.BUILTINS,
    **bounds.BUILTINS,
    "getattr": HostFunction("getattr", _getattr),
    "hasattr": HostFunction("hasattr", _hasattr),
}
