"""Hydra: the tree that its files compose, handed to the decorated function, and objects made of the classes that it names."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.configuration.documents import as_yaml
from analysis.configuration.trees import configured, merged, plain, put, tree
from analysis.interpreter.imports import from_import
from analysis.interpreter.values import Call, GuestDict, HostFunction, Instance, Partial, Value
from analysis.library.knowledge import Example, Subject

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from hydra.utils import instantiate

net = instantiate({"_target_": "torch.nn.Linear", "in_features": 2, "out_features": 1})
make = instantiate({"_target_": "torch.optim.SGD", "_partial_": True, "lr": 0.1})
make(net.parameters()).step()
""",
            ("optimizer_built SGD", "step SGD"),
        ),
    ),
)
_STORE = SUBJECT.cls("hydra.core.config_store.ConfigStore")
_SUFFIXES = (".yaml", ".yml", "")
#: Files that one composition may reach.
_MOST_FILES = 100


@dataclass(slots=True)
class _Composition:
    """One composition: ``chosen`` is what an override selects for a group, ``left`` how many files may still be read."""

    machine: Machine
    folder: str
    chosen: dict[str, Value]
    left: int = _MOST_FILES

    def settings(self, name: str, group: str = "") -> Value:
        """The settings of a file (or of a record in the store) with those of its defaults; a symbol where it is not there."""
        self.left -= 1
        own = self._read(posixpath.join(group, name))
        if not isinstance(own, dict) or self.left < 0:
            return own
        mine = merged(self.machine, own)
        defaults = mine.pop("defaults", [])
        parts = [mine if entry == "_self_" else self._default(entry, group) for entry in (defaults if isinstance(defaults, list) else [])]
        if mine not in parts:
            parts.append(mine)
        unknown = next((part for part in parts if not isinstance(part, dict)), None)
        return merged(self.machine, *parts) if unknown is None else unknown

    def _default(self, entry: Value, group: str) -> Value:
        """What one entry of a list of defaults brings, under its group's name."""
        if isinstance(entry, str):
            path = entry.lstrip("/")
            return self.settings(posixpath.basename(path), posixpath.join("" if entry.startswith("/") else group, posixpath.dirname(path)))
        key, name = next(iter(entry.items()), ("", None)) if isinstance(entry, dict) else ("", None)
        key = str(key).removeprefix("optional ")
        if key.startswith("override "):
            self.chosen.setdefault(key.removeprefix("override ").lstrip("/"), name)
            return GuestDict()
        path, _, package = key.partition("@")
        inner = path.lstrip("/") if path.startswith("/") else posixpath.join(group, path)
        name = self.chosen.get(inner, name)
        if name is None or inner.startswith("hydra"):
            return GuestDict()
        brought = self.settings(str(name), inner)
        if not isinstance(brought, dict) or package == "_global_" or self._is_global(posixpath.join(inner, str(name))):
            return brought
        made = merged(self.machine)
        put(self.machine, made, package or posixpath.relpath(inner, group or ".").replace("/", "."), brought)
        return made

    def _file(self, name: str) -> str | None:
        contents = self.machine.snapshot.contents
        return next((path for suffix in _SUFFIXES if (path := posixpath.normpath(posixpath.join(self.folder, name + suffix))) in contents), None)

    def _read(self, name: str) -> Value:
        path = self._file(name)
        if path is not None:
            text = self.machine.snapshot.contents[path].decode("utf-8", "replace")
            return as_yaml(self.machine, text, path) or GuestDict()
        stored = self.machine.state.get("hydra store", {}).get(name)
        if stored is not None:
            return plain(self.machine, stored)
        return self.machine.domain.unknown(self.machine, f"the configuration {name!r}, which is not in the repository", self.machine.span)

    def _is_global(self, name: str) -> bool:
        path = self._file(name)
        return path is not None and b"@package _global_" in self.machine.snapshot.contents[path][:500]


def composed(machine: Machine, folder: str, name: Value, overrides: Value = ()) -> Value:
    """The tree that ``name`` and its defaults compose, with ``group=file`` and ``setting=value`` overrides."""
    pairs = [item.lstrip("+~").partition("=")[::2] for item in (overrides if isinstance(overrides, (list, tuple)) else ()) if isinstance(item, str)]
    pairs += [(key, str(value)) for key, value in machine.state.get("arguments", {}).items()]
    composition = _Composition(machine, folder, {})
    groups = {path[len(folder) :].strip("/").rpartition("/")[0] for path in machine.snapshot.contents if path.startswith(folder)}
    composition.chosen.update({key: value for key, value in pairs if key in groups})
    machine.state.setdefault("asked", set()).update(composition.chosen)
    named = str(name).removesuffix(".yaml") if isinstance(name, str) else None
    settings = machine.domain.unknown(machine, "the configuration", machine.span) if named is None else composition.settings(named)
    if isinstance(settings, dict):
        for key, text in pairs:
            if key not in groups and key not in machine.state.get("arguments", {}):
                put(machine, settings, key, as_yaml(machine, text, ""))
    return configured(machine, settings)


@SUBJECT.function("hydra.main")
def _main(call: Call) -> Value:
    path, name = call.get(0, "config_path"), call.get(1, "config_name")
    folder = posixpath.normpath(posixpath.join(posixpath.dirname(call.span.path), path if isinstance(path, str) else "."))

    def run(inner: Call, function: Value) -> Value:
        given = list(inner.args) or [composed(inner.machine, "" if folder == "." else folder, name)]
        return inner.machine.call(function, given, {}, inner.span)

    return HostFunction("hydra.main", lambda outer: HostFunction("hydra.main", lambda inner: run(inner, outer.args[0])))


@SUBJECT.function("hydra.initialize", "hydra.initialize_config_dir")
def _initialize(call: Call) -> Value:
    path = call.get(0, "config_path", call.kwargs.get("config_dir"))
    call.machine.state["hydra folder"] = posixpath.normpath(posixpath.join(posixpath.dirname(call.span.path), path if isinstance(path, str) else "."))
    return call.machine.call(call.machine.domain.lookup("contextlib.nullcontext"), [], {}, call.span)


@SUBJECT.function("hydra.compose")
def _compose(call: Call) -> Value:
    folder = call.machine.state.get("hydra folder", ".")
    return composed(call.machine, "" if folder == "." else folder, call.get(0, "config_name"), call.get(1, "overrides"))


@_STORE.static("instance")
def _instance(call: Call) -> Value:
    return call.machine.instance(call.machine.domain.lookup("hydra.core.config_store.ConfigStore"), call.span)


@_STORE.method("store")
def _store(call: Call) -> Value:
    name, node, group = call.get(1, "name"), call.get(2, "node"), call.get(3, "group")
    stored: dict[str, Value] = call.machine.state.setdefault("hydra store", {})
    stored[posixpath.join(group if isinstance(group, str) else "", str(name))] = node
    return None


@SUBJECT.function("hydra.utils.instantiate", "hydra.utils.call")
def _instantiate(call: Call) -> Value:
    settings = plain(call.machine, call.get(0, "config"))
    if isinstance(settings, dict) and "_target_" in settings:
        return _made(call, settings, list(call.args[1:]), {name: value for name, value in call.kwargs.items() if name != "config"})
    return _inner(call, settings)


def _inner(call: Call, value: Value) -> Value:
    """A setting with everything in it made that names a class."""
    match value:
        case dict() if "_target_" in value:
            return _made(call, value, [], {})
        case dict():
            return tree(call.machine, GuestDict({key: _inner(call, item) for key, item in value.items()}))
        case list():
            return [_inner(call, item) for item in value]
    return value


def _made(call: Call, settings: dict[Any, Value], args: list[Value], more: dict[str, Value]) -> Value:
    machine = call.machine
    own = {str(key): item for key, item in settings.items() if not str(key).startswith("_")}
    deep = settings.get("_recursive_", True) is not False and more.pop("_recursive_", True) is not False
    given = ({key: _inner(call, item) for key, item in own.items()} if deep else own) | more
    partial = given.pop("_partial_", settings.get("_partial_", False))
    places = {key: machine.place_of(settings, key) for key in own if key not in more}
    target = located(machine, settings["_target_"])
    if partial is True:
        return Partial(target, tuple(args), given)
    if machine.domain.tracks_places:
        machine.argument_places = ([None] * len(args), places)
    return machine.call(target, [*settings.get("_args_", ()), *args], given, call.span)


def located(machine: Machine, dotted: Value) -> Value:
    """What a dotted name stands for: of the repository, or of a library."""
    if not isinstance(dotted, str):
        return machine.domain.unknown(machine, "a class whose name is not known", machine.span)
    parts = dotted.split(".")
    entry = machine.loaded.get(machine.entry_path)
    is_own = entry is not None and f"{parts[0]}.py" == posixpath.basename(machine.entry_path)
    found = entry if is_own else machine.import_module(parts[0], machine.entry_path)  # a script is imported under its own name
    for index, name in enumerate(parts[1:], 1):
        module = machine.modules.resolve(".".join(parts[: index + 1]), machine.entry_path, machine.entry_path)
        if module is not None:
            found = machine.load(module, ".".join(parts[: index + 1]))
        else:
            found = machine.getattr(found, name, machine.span) if isinstance(found, Instance) else from_import(machine, found, name, machine.entry_path)
    return found


@SUBJECT.function("hydra.utils.get_class", "hydra.utils.get_method", "hydra.utils.get_object")
def _get_class(call: Call) -> Value:
    return located(call.machine, call.args[0])


@SUBJECT.function("hydra.utils.to_absolute_path")
def _absolute(call: Call) -> Value:
    return call.args[0]


SUBJECT.values["hydra.utils.get_original_cwd"] = HostFunction("hydra.utils.get_original_cwd", lambda _call: ".")
