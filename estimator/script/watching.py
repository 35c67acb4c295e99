"""What arrives at a model: the one place where batch size, sequence length and precision are seen rather than guessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING

from analysis.interpreter.values import Instance, Symbol, Value
from estimator.library.symbols import Number
from estimator.script import doubts
from estimator.script.observed import Argument, ModelCall
from estimator.tape.dtype import Dtype
from estimator.tape.events import rounded
from estimator.tape.tensor import Parameter, Tensor

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain


#: Steps of the interpreter that a run has left at least once a model trains: what came before may have been long, and two steps tell all.
_FOR_TRAINING = 600_000
#: Wrappers that hand through.
_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel"})


def watch(domain: TapeDomain, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """Note one call of a top-level module."""
    tape, observed = domain.tape, domain.observed
    parameters = list(parameters_of(module))
    named = [*(("", value) for value in args), *kwargs.items()]
    total = sum(map(_elements, parameters))
    module = _unwrapped(module)
    config, forward = module.fields.get("config"), module.fields.get("forward")
    low = forward.fields.get("dtype") if isinstance(forward, Instance) else tape.autocast.dtype if tape.autocast.enabled else None
    call = ModelCall(
        name=module.cls.name,
        arguments=tuple(_arguments(named)),
        place=domain.here(domain.machine.span),
        parameter_dtype=parameters[0].dtype.name if parameters else "float32",
        autocast=low.name if isinstance(low, Dtype) else None,
        grad=tape.grad_enabled,
        made=domain.here(module.span) if module.span is not None and domain.is_own(module.span) else None,
        attention=config.fields.get("_attn_implementation") if isinstance(config, Instance) else None,
        caches=isinstance(config, Instance) and config.fields.get("use_cache") is True,
        published=_published(module, config),
    )
    observed.calls.append(call)
    trainable = sum(_elements(parameter) for parameter in parameters if parameter.requires_grad) if tape.grad_enabled else 0
    if trainable and tape.optimizers and not observed.lost and not domain.machine.state.get("trains"):
        domain.machine.state["trains"] = True
        domain.machine.steps = max(domain.machine.steps, _FOR_TRAINING)
    rank, best = (trainable > 0, total, bool(tape.optimizers)), (observed.trainable > 0, observed.parameters, observed.optimized)
    if rank > best or (observed.stepped_on and total == observed.parameters):
        observed.parameters, observed.trainable, observed.main, observed.optimized = total, trainable, call, bool(tape.optimizers)
        observed.parameter_bytes = sum(rounded(parameter.numel() * parameter.itemsize) for parameter in parameters)
        observed.trainable_bytes = sum(rounded(parameter.numel() * parameter.itemsize) for parameter in parameters if parameter.requires_grad)
        observed.block_bytes, observed.root_bytes, largest = _units(module)
        observed.unit_bytes = max(observed.block_bytes, largest)
    for _, value in named:
        if isinstance(value, Symbol) and not isinstance(value, Number) and total:
            doubts.arrived(domain, module.cls.name, value)


def _arguments(given: Iterable[tuple[str, Value]]) -> Iterator[Argument]:
    """The tensors that a model is given; a batch that is handed over as one dict or tuple is opened, a list of samples is one tensor more deep."""
    for name, value in given:
        match value:
            case Tensor():
                yield Argument(name, tuple(value.shape), not value.dtype.is_floating_point)
            case dict():
                yield from _arguments((key if isinstance(key, str) else name, item) for key, item in value.items() if isinstance(item, Tensor))
            case [Tensor() as first, *rest] if isinstance(value, list) and all(isinstance(each, Tensor) and each.shape == first.shape for each in rest):
                yield Argument(name, (len(value), *first.shape), not first.dtype.is_floating_point)
            case list() | tuple():
                yield from _arguments((name, item) for item in value if isinstance(item, Tensor))


def _published(module: Instance, config: Value) -> str | None:
    """The name by which a library loaded a model."""
    names = (each.fields.get("_name_or_path") for each in (module, config) if isinstance(each, Instance))
    return next((name for name in names if isinstance(name, str)), None)


def watch_step(domain: TapeDomain, parameters: list[Parameter]) -> None:
    """A step of an optimizer where no model was called before: what has gradients is the model, whose forward a script may call by its name."""
    observed = domain.observed
    observed.stepped.update((id(each), _elements(each)) for each in parameters if each.grad is not None)
    if observed.main is not None and not observed.stepped_on:
        return
    fresh = [parameter for parameter in parameters if parameter.grad is not None and id(parameter) not in observed.stepped_on]
    if not fresh:
        return
    observed.stepped_on.update(map(id, fresh))
    observed.parameters = observed.trainable = observed.parameters + sum(map(_elements, fresh))
    observed.parameter_bytes = observed.trainable_bytes = observed.parameter_bytes + sum(rounded(each.numel() * each.itemsize) for each in fresh)
    here = domain.here(domain.machine.span)
    observed.main = ModelCall("what the optimizers hold", (), here, fresh[0].dtype.name, None, grad=True, made=None, attention=None)
    observed.unknowns["no model is called as such before the optimizer's step: which batch it is given is not shown"] = None


def _elements(parameter: Parameter) -> int:
    """How many numbers a parameter holds, packed ones counted as the layer has them."""
    return parameter.numel() if parameter.stands_for is None else prod(parameter.stands_for)


def _unwrapped(module: Instance) -> Instance:
    """The model inside wrappers that hand its arguments through."""
    while module.cls.name in _WRAPPERS:
        inner = module.fields["_modules"].get("module")
        if not isinstance(inner, Instance):
            return module
        module = inner
    return module


def _units(module: Instance) -> tuple[int, int, int]:
    """Bytes of the largest item of a list of layers, of what lies in none, and of the largest parameter of that. Modules may hold each other."""
    block = root = largest = 0
    todo = [module]
    seen: set[int] = set()
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        inner = [child for child in current.fields.get("_modules", {}).values() if isinstance(child, Instance)]
        if any(cls.name == "ModuleList" for cls in current.cls.mro):
            block = max([block, *(sum(each.numel() * each.itemsize for each in parameters_of(child)) for child in inner)])
            continue
        own = [each.numel() * each.itemsize for each in current.fields.get("_parameters", {}).values() if isinstance(each, Parameter)]
        root, largest = root + sum(own), max([largest, *own])
        todo.extend(inner)
    return block, root, largest


def parameters_of(module: Instance) -> Iterator[Parameter]:
    """Every parameter of a guest module once, shared ones too; modules that hold each other are looked at once."""
    seen: set[int] = set()
    todo = [module]
    while todo:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        for parameter in current.fields.get("_parameters", {}).values():
            if isinstance(parameter, Parameter) and id(parameter) not in seen:
                seen.add(id(parameter))
                yield parameter
        todo.extend(child for child in reversed(list(current.fields.get("_modules", {}).values())) if isinstance(child, Instance))
