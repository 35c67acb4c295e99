"""Attributes of modules: a parameter, a child and a buffer are kept by name in groups of their own, as PyTorch keeps them."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Instance
from estimator.tape.events import Kind
from estimator.tape.tensor import Buffer, Parameter
from estimator.tape.traversal import fields_of

_GROUPS = ("_parameters", "_buffers", "_modules")


def is_module(value: Any) -> bool:
    """Whether a value is an object of a module class, interpreted or not."""
    fields = value.fields if isinstance(value, Instance) else getattr(value, "__dict__", {})
    return "_modules" in fields


def init_module(module: Any, *_: Any, **__: Any) -> None:
    """``Module.__init__``: empty groups."""
    fields = fields_of(module)
    fields["training"] = True
    for group in _GROUPS:
        fields[group] = {}
    fields["_non_persistent_buffers_set"] = set()
    fields["_forward_hooks"] = {}
    fields["_forward_pre_hooks"] = {}


def set_attribute(module: Any, name: str, value: Any) -> None:
    """``Module.__setattr__``: a name is in one group at most; a buffer that is replaced stays one."""
    fields = fields_of(module)
    if isinstance(value, Parameter):
        _forget(fields, name, "_parameters")
        fields["_parameters"][name] = value
    elif isinstance(value, Buffer):
        _forget(fields, name, "_buffers")
        fields["_buffers"][name] = value
        if not value.persistent:
            fields["_non_persistent_buffers_set"].add(name)
    elif is_module(value):
        _forget(fields, name, "_modules")
        fields["_modules"][name] = value
    elif (group := _group_of(fields, name)) is not None:
        if group == "_buffers" and value is not None:
            value.storage.became(Kind.BUFFERS)
        fields[group][name] = value
    else:
        fields[name] = value


def _forget(fields: dict[str, Any], name: str, group: str) -> None:
    fields.pop(name, None)
    for other in _GROUPS:
        if other != group:
            fields.get(other, {}).pop(name, None)


def _group_of(fields: dict[str, Any], name: str) -> str | None:
    return next((group for group in _GROUPS if name in fields.get(group, ())), None)


def get_attribute(module: Any, name: str) -> Any:
    """``Module.__getattr__``: what is in none of the groups is not there. Raises AttributeError."""
    fields = fields_of(module)
    group = _group_of(fields, name)
    if group is None:
        kind = module.cls.name if isinstance(module, Instance) else type(module).__name__
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")
    return fields[group][name]
