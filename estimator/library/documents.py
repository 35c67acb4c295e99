"""YAML, JSON and TOML files of the repository under the names of the functions that read them."""

from __future__ import annotations

from functools import partial
from typing import Any

from analysis.configuration.documents import READERS, as_yaml, read
from analysis.interpreter.values import Call, HostFunction, Symbol, Value


def yaml_of_file(call: Call) -> Value:
    """The document in the file of that name."""
    opened = call.machine.open_file(call.args[0], call.span)
    if opened.text is None:
        return Symbol(f"the content of {call.args[0]!r}, which is not in the repository", call.span, call.machine.stamp)
    return as_yaml(call.machine, opened.text, opened.text.path)


NAMES: dict[str, Any] = {
    **{name: HostFunction(f"the reading of a {kind} file", partial(read, kind=kind)) for name, kind in READERS.items()},
    "preflight_host.yaml_of_file": HostFunction("yaml_of_file", yaml_of_file),
}
