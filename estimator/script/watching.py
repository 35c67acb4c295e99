"""What arrives at a model: the one place where batch size, sequence length and precision are seen rather than guessed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.interpreter.values import Instance, Value
from estimator.script.observed import Argument, ModelCall
from estimator.tape.tensor import Parameter, Tensor

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain


def watch(domain: TapeDomain, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """Note one call of a top-level module."""
    tape = domain.tape
    parameters = list(parameters_of(module))
    named = [("", value) for value in args] + list(kwargs.items())
    arguments = tuple(Argument(name, tuple(value.shape), not value.dtype.is_floating_point, None) for name, value in named if isinstance(value, Tensor))
    total = sum(parameter.numel() for parameter in parameters)
    call = ModelCall(
        name=module.cls.name,
        arguments=arguments,
        place=tape.place,
        parameter_dtype=parameters[0].dtype.name if parameters else "float32",
        autocast=tape.autocast.dtype.name if tape.autocast.enabled else None,
        grad=tape.grad_enabled,
        made=domain.place(module.span) if module.span is not None and module.span.path in domain.machine.snapshot.contents else None,
    )
    domain.observed.calls.append(call)
    if total > domain.observed.parameters:
        domain.observed.parameters = total
        domain.observed.trainable = sum(parameter.numel() for parameter in parameters if parameter.requires_grad)
        domain.observed.facts["model_call"] = (call, call.place)


def parameters_of(module: Instance) -> Iterator[Parameter]:
    """Every parameter of a guest module once, shared ones too."""
    seen: set[int] = set()
    todo = [module]
    while todo:
        current = todo.pop()
        for parameter in current.fields.get("_parameters", {}).values():
            if isinstance(parameter, Parameter) and id(parameter) not in seen:
                seen.add(id(parameter))
                yield parameter
        todo.extend(child for child in reversed(list(current.fields.get("_modules", {}).values())) if isinstance(child, Instance))
