"""Which class builds a model: the zoo's, else one of a release of the library that is at hand."""

from __future__ import annotations

import posixpath

from analysis.configuration.documents import of_file
from analysis.interpreter.values import MISSING, Call, Class, HostFunction, Instance, Symbol, Value
from estimator.library.language import domain_of, unknown_model
from estimator.zoo import PACKAGE, families, family

#: What stands before the type of a model that the library's own source builds, where a name is to tell both.
_OF_THE_LIBRARY = "transformers."


def _zoo_class(call: Call) -> Value:
    """The class for a task, by the name of a family or by an object of its configuration's class."""
    machine, (given, task) = call.machine, call.args
    name = given.removeprefix(_OF_THE_LIBRARY) if isinstance(given, str) else _family_of(given)
    if name in families():
        one = family(name)
        wanted = one.config if task == "config" else one.builds.get(task)
        if wanted is not None:
            return machine.getattr(machine.import_module(f"{PACKAGE}.{name}", machine.entry_path), wanted, call.span)
    model_type = name if isinstance(given, str) or name in families() else given.cls.find("model_type") if isinstance(given, Instance) else MISSING
    found = _of_a_release(call, model_type, task)
    return _not_modelled(call, model_type, task) if found is None else found


def _of_a_release(call: Call, model_type: Value, task: str) -> Value | None:
    """The library's own class for a task; None where no release at hand has one."""
    machine = call.machine
    dotted = domain_of(call).releases.class_for(model_type.removeprefix("transformers_"), task) if isinstance(model_type, str) else None
    if dotted is None:
        return None
    module, _, wanted = dotted.rpartition(".")
    return machine.getattr(machine.import_module(module, machine.entry_path), wanted, call.span)


def _not_modelled(call: Call, model_type: Value, task: str) -> Value:
    """Nothing at hand builds it; without so much as a configuration the script ends."""
    domain = domain_of(call)
    if not isinstance(model_type, str):
        domain.lose(f"{domain.caller_place()}: the family of the model that is built from this configuration is not modelled")
        return Symbol("a model of a family that is not modelled", call.span)
    hint = "" if domain.releases.files("transformers") else ", and the library's own source is not at hand: `preflight sources add transformers==VERSION`"
    if task == "config":
        raise unknown_model(call, f"models of the family {model_type} are not modelled{hint}")
    domain.lose(f"{domain.caller_place()}: a {model_type} model for the task {task} is not modelled{hint}")
    return Symbol(f"a {model_type} model for the task {task}", call.span)


def _family_of(config: Value) -> str:
    """The family whose configuration an object is: the nearest of its classes decides, since families are built from each other."""
    by_class = {family(name).config: name for name in families()}
    classes = config.cls.mro if isinstance(config, Instance) else ()
    return next((by_class[cls.name] for cls in classes if cls.name in by_class and cls.dotted.startswith(PACKAGE)), "")


def _own_config_class(call: Call) -> Value:
    """The class of configurations that goes with a library's own ``model`` class, where ``config`` is the zoo's; None where it already fits."""
    config, model = call.args
    name = _family_of(config)
    if not name or not isinstance(model, Class) or model.dotted.startswith(PACKAGE):
        return None
    return _of_a_release(call, name, "config")


def _release_config(call: Call) -> Value:
    """(family, numbers, dtype) out of a ``config.json`` of the repository whose family a release at hand has; None where there is none."""
    name, domain = call.args[0], domain_of(call)
    numbers = of_file(call, posixpath.join(name, "config.json")) if isinstance(name, str) and name else None
    numbers = numbers if isinstance(numbers, dict) else {}
    kind = numbers.get("model_type")
    if not isinstance(kind, str) or kind.replace("-", "_") in families() or domain.releases.class_for(kind, "config") is None:
        return None
    known = {key: value for key, value in numbers.items() if key not in {"model_type", "dtype", "torch_dtype", "architectures", "transformers_version"}}
    return kind, known, str(numbers.get("dtype", numbers.get("torch_dtype", "float32")))


def _model_class(call: Call) -> Value:
    """The class that a library's own source builds a named model with; where a subclass is asked for, that one."""
    dotted, asked = call.args
    library, _, name = dotted.partition(".")
    module = domain_of(call).releases.module_of(library, name)
    if not module:
        domain_of(call).lose(f"{domain_of(call).caller_place()}: {dotted} is built by that library's own source, which is not at hand: `preflight sources add`")
        return asked
    found = call.machine.getattr(call.machine.import_module(module, call.machine.entry_path), name, call.span)
    return asked if isinstance(found, Class) and isinstance(asked, Class) and found in asked.mro else found


def _maker(call: Call) -> Value:
    """The function of a library's own source that makes its model of that name; None where no release at hand has one."""
    library, name = call.args
    module = domain_of(call).releases.module_of(library, name)
    return call.machine.getattr(call.machine.import_module(module, call.machine.entry_path), name, call.span) if module else None


NAMES: dict[str, Value] = {
    f"preflight_host.{function.__name__[1:]}": HostFunction(function.__name__[1:], function)
    for function in (_zoo_class, _own_config_class, _release_config, _model_class, _maker)
}
