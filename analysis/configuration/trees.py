"""Trees of settings whose keys are attributes: OmegaConf's, and those of the small libraries that do the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analysis.configuration.documents import as_yaml, yaml_document
from analysis.configuration.numbers import with_floats
from analysis.interpreter.classes import is_record
from analysis.interpreter.files import OpenFile
from analysis.interpreter.values import MISSING, Call, Class, GuestDict, GuestList, HostFunction, Instance, Value
from analysis.library.knowledge import Example, Subject

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from omegaconf import OmegaConf

cfg = OmegaConf.create({"train": {"steps": 2, "lr": 0.1}, "again": "${train.steps}"})
for _ in range(cfg.again):
    torch.zeros(1).item()
""",
            ("item", "item"),
        ),
    ),
)
_TREE = "omegaconf.DictConfig"
_CONFIG = SUBJECT.cls(_TREE)
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
#: References that lead to references, and so on.
_MAX_CHAIN = 16


def tree(machine: Machine, settings: dict[Any, Value], root: dict[Any, Value] | None = None) -> Instance:
    """``settings`` as a tree: references (``${data.size}``) are followed from its root, and each value keeps its line."""
    top = settings if root is None else root
    made = machine.instance(machine.domain.lookup(_TREE))
    for key, value in settings.items():
        made.fields[key] = _node(machine, _followed(value, top), top)
        span = machine.place_of(settings, key)
        if span is not None:
            machine.places[id(made.fields), key] = span
    return made


def _node(machine: Machine, value: Value, root: dict[Any, Value]) -> Value:
    match value:
        case dict():
            return tree(machine, value, root)
        case list():
            items = GuestList(_node(machine, _followed(item, root), root) for item in value)
            items.span, items.stamp = machine.span, ()
            return items
    return value


def _followed(value: Value, root: dict[Any, Value], depth: int = 0) -> Value:
    """What a text with references to other settings stands for; one to something else stays a text."""
    if not isinstance(value, str) or "${" not in value or depth > _MAX_CHAIN:
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole is not None:
        found = at(root, whole[1])
        return value if found is MISSING else _followed(found, root, depth + 1)

    def written(match: re.Match[str]) -> str:
        found = _followed(at(root, match[1]), root, depth + 1)
        return str(found) if isinstance(found, (str, int, float, bool)) else match[0]

    return _REFERENCE.sub(written, value)


def at(settings: Value, dotted: str) -> Value:
    """The setting at ``train.lr``, or ``MISSING``."""
    for key in dotted.split("."):
        if not isinstance(settings, dict) or key not in settings:
            return MISSING
        settings = settings[key]
    return settings


def put(machine: Machine, settings: dict[Any, Value], dotted: str, value: Value) -> None:
    """Set what is at ``train.lr``; what leads there is made where it is missing."""
    *above, last = dotted.split(".")
    for key in above:
        inner = settings.get(key)
        if not isinstance(inner, dict):
            inner = settings[key] = _empty(machine)
        settings = inner
    settings[last] = value


def _empty(machine: Machine) -> GuestDict:
    made = GuestDict()
    made.span, made.stamp = machine.span, ()
    return made


def merged(machine: Machine, *parts: Value) -> GuestDict:
    """The settings of several, later ones first in rank; each keeps the line where it is written."""
    made = _empty(machine)
    for part in parts:
        for key, value in part.items() if isinstance(part, dict) else ():
            known = made.get(key)
            made[key] = merged(machine, known, value) if isinstance(known, dict) and isinstance(value, dict) else value
            span = machine.place_of(part, key)
            if span is not None:
                machine.places[id(made), key] = span
    return made


def plain(machine: Machine, value: Value) -> Value:
    """A tree, or a record, as dicts and lists."""
    match value:
        case Instance() if value.cls.dotted == _TREE or is_record(value.cls):
            made = _empty(machine)
            for key, item in value.fields.items():
                made[key] = plain(machine, item)
                span = machine.place_of(value.fields, key)
                if span is not None:
                    machine.places[id(made), key] = span
            return made
        case Class() if is_record(value):
            return plain(machine, machine.call(value, [], {}, machine.span))
        case dict():
            return merged(machine, GuestDict({key: plain(machine, item) for key, item in value.items()}), value) if _has_trees(value) else value
        case list() | tuple():
            return [plain(machine, item) for item in value]
    return value


def _has_trees(value: dict[Any, Value]) -> bool:
    return any(isinstance(item, Instance) for item in value.values())


def configured(machine: Machine, settings: Value) -> Value:
    """The tree of ``settings``, with what the caller sets by dotted names; a symbol where they are not known."""
    if not isinstance(settings, dict):
        return settings
    changed = with_floats(merged(machine, settings))
    for name, value in machine.state.get("arguments", {}).items():
        if not isinstance(at(changed, name), dict) and at(changed, name) is not MISSING:  # a text chooses a group's file
            put(machine, changed, name, value)
            machine.state.setdefault("asked", set()).add(name)
    return tree(machine, changed)


@_CONFIG.method("__getitem__")
def _getitem(call: Call) -> Value:
    config, key = call.args
    return config.fields[key] if key in config.fields else call.machine.domain.unknown(call.machine, f"the setting {key}", call.span)


@_CONFIG.method("__setitem__", "__setattr__")
def _setitem(call: Call) -> Value:
    call.machine.heap.write(call.args[0].fields, call.args[1], call.args[2])
    return None


@_CONFIG.method("get", "pop", "setdefault")
def _get(call: Call) -> Value:
    found = call.args[0].fields.get(call.args[1], MISSING)
    return call.get(2, "default_value") if found is MISSING else found


@_CONFIG.method("keys", "__iter__")
def _keys(call: Call) -> Value:
    return list(call.args[0].fields)


@_CONFIG.method("values")
def _values(call: Call) -> Value:
    return list(call.args[0].fields.values())


@_CONFIG.method("items", "items_ex")
def _items(call: Call) -> Value:
    return list(call.args[0].fields.items())


@_CONFIG.method("__contains__", "has_key")
def _contains(call: Call) -> Value:
    return call.args[1] in call.args[0].fields


@_CONFIG.method("__len__")
def _len(call: Call) -> Value:
    return len(call.args[0].fields)


@_CONFIG.method("update", "merge_with", "merge_from_dict")
def _update(call: Call) -> Value:
    machine, config = call.machine, call.args[0]
    more = merged(machine, *(plain(machine, part) for part in call.args[1:]), GuestDict(call.kwargs))
    config.fields.update(tree(machine, merged(machine, plain(machine, config), more)).fields)
    return None


@_CONFIG.method("copy", "to_dict", "copy_and_resolve_references")
def _copy(call: Call) -> Value:
    return tree(call.machine, merged(call.machine, plain(call.machine, call.args[0])))


@_CONFIG.method("lock", "unlock", "freeze", "defrost", "merge_from_list")
def _nothing(call: Call) -> Value:
    return call.args[0]


@SUBJECT.function("omegaconf.OmegaConf.load")
def _load(call: Call) -> Value:
    machine, given = call.machine, call.args[0]
    opened = given if isinstance(given, OpenFile) else machine.open_file(given, call.span)
    return configured(machine, yaml_document(machine, opened))


@SUBJECT.function(
    "omegaconf.OmegaConf.create", "omegaconf.OmegaConf.structured", "easydict.EasyDict", "ml_collections.ConfigDict", "munch.Munch", "munch.munchify",
    "ml_collections.config_dict.ConfigDict", "ml_collections.FrozenConfigDict", "box.Box", "addict.Dict", "yacs.config.CfgNode",
)  # fmt: skip
def _create(call: Call) -> Value:
    return _tree_of(call)


@_CONFIG.method("__new__")
def _construct(call: Call) -> Value:
    return _tree_of(Call(call.machine, call.args[1:], call.kwargs, call.span))


def _tree_of(call: Call) -> Value:
    """The tree of a dict, a record or a text in YAML."""
    machine, given = call.machine, call.args[0] if call.args else GuestDict()
    if isinstance(given, str):
        given = as_yaml(machine, given, getattr(given, "path", ""))
    given = plain(machine, given)
    if isinstance(given, list):
        return given
    return configured(machine, merged(machine, given, GuestDict(call.kwargs)) if isinstance(given, dict) else given)


@SUBJECT.function("omegaconf.OmegaConf.merge", "omegaconf.OmegaConf.unsafe_merge")
def _merge(call: Call) -> Value:
    """Of trees, dicts and records; the first that is not known leaves the whole unknown."""
    parts = [plain(call.machine, part) for part in call.args]
    unknown = next((part for part in parts if not isinstance(part, dict)), None)
    return tree(call.machine, merged(call.machine, *parts)) if unknown is None else unknown


@SUBJECT.function("omegaconf.OmegaConf.from_cli", "omegaconf.OmegaConf.from_dotlist")
def _from_cli(call: Call) -> Value:
    """The command line is empty but for what the caller sets, which was put in when the tree was made."""
    settings, given = _empty(call.machine), call.get(0, "dotlist")
    for item in given if isinstance(given, (list, tuple)) else ():
        name, sign, text = item.partition("=") if isinstance(item, str) else ("", "", "")
        if sign:
            put(call.machine, settings, name, as_yaml(call.machine, text, ""))
    return tree(call.machine, settings)


@SUBJECT.function("omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.to_object", "ml_collections.ConfigDict.to_dict")
def _to_container(call: Call) -> Value:
    return plain(call.machine, call.args[0])


@SUBJECT.function("omegaconf.OmegaConf.select")
def _select(call: Call) -> Value:
    found = at(plain(call.machine, call.args[0]), call.args[1])
    return call.kwargs.get("default") if found is MISSING else found


@SUBJECT.function("omegaconf.OmegaConf.update")
def _update_at(call: Call) -> Value:
    machine, config, name, value = call.machine, *call.args[:3]
    settings = merged(machine, plain(machine, config))
    put(machine, settings, name, value)
    config.fields.update(tree(machine, settings).fields)
    return None


@SUBJECT.function("omegaconf.OmegaConf.is_config", "omegaconf.OmegaConf.is_dict")
def _is_config(call: Call) -> Value:
    return isinstance(call.args[0], Instance) and call.args[0].cls.dotted == _TREE


for _name in ("set_struct", "set_readonly", "resolve", "register_new_resolver", "register_resolver", "save"):
    SUBJECT.values[f"omegaconf.OmegaConf.{_name}"] = HostFunction(f"omegaconf.OmegaConf.{_name}", lambda _call: None)
SUBJECT.values["omegaconf.open_dict"] = HostFunction(
    "omegaconf.open_dict", lambda call: call.machine.call(call.machine.domain.lookup("contextlib.nullcontext"), [], {}, call.span)
)
SUBJECT.values["omegaconf.read_write"] = SUBJECT.values["omegaconf.open_dict"]
