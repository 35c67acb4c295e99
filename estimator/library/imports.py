"""``importlib``: modules by a name that the program makes."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import Call, HostFunction, Symbol, Value


def _import_module(call: Call) -> Value:
    """The module of that name, the repository's own or a library's."""
    name = call.args[0] if call.args else None
    if not isinstance(name, str) or name.startswith("."):
        return Symbol("a module whose name is not known", call.span)
    return call.machine.import_module(name, call.machine.entry_path)


NAMES: dict[str, Any] = {
    "importlib.import_module": HostFunction("importlib.import_module", _import_module),
    "importlib.reload": HostFunction("importlib.reload", lambda call: call.args[0]),
}
