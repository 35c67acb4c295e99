"""Walking a model by ``_modules``, ``_parameters`` and ``_buffers``: what training scripts do most often, so the host does it.

A module is an object of guest source: an ``Instance`` when it is interpreted, an ordinary object when the tape's tests run it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.interpreter.values import Instance


def fields_of(module: Any) -> dict[str, Any]:
    """The attributes that a module holds itself."""
    return module.fields if isinstance(module, Instance) else vars(module)


def named_modules(module: Any, prefix: str = "", remove_duplicate: bool = True) -> list[tuple[str, Any]]:  # noqa: FBT001, FBT002  PyTorch's signature
    """The module and all below it, depth first, with dotted names."""
    return list(_walk(module, prefix, set() if remove_duplicate else None))


def _walk(module: Any, prefix: str, seen: set[int] | None) -> Iterator[tuple[str, Any]]:
    if seen is not None:
        if id(module) in seen:
            return
        seen.add(id(module))
    yield prefix, module
    for name, child in fields_of(module)["_modules"].items():
        if child is not None:
            yield from _walk(child, f"{prefix}.{name}" if prefix else name, seen)


def named_members(module: Any, group: str, prefix: str, recurse: bool, remove_duplicate: bool) -> list[tuple[str, Any]]:  # noqa: FBT001  guest calls by position
    """The parameters or buffers (``group``) of the module, and of all below it if ``recurse``, with dotted names."""
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()
    for path, owner in named_modules(module, prefix, remove_duplicate) if recurse else [(prefix, module)]:
        for name, value in fields_of(owner)[group].items():
            if value is None or id(value) in seen:
                continue
            if remove_duplicate:
                seen.add(id(value))
            found.append((f"{path}.{name}" if path else name, value))
    return found
