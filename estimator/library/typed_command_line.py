"""jsonargparse: functions called with what the command line and a YAML file say of their parameters, records and objects among them.

``--train.lr 0.1`` changes a field of the record that is a parameter's default, ``--data Name`` makes an object of the class of that name with what
``--data.path x`` says, words without a name are parameters without a default, in order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from analysis.configuration.documents import yaml_document
from analysis.interpreter.values import MISSING, Call, Class, Function, Guarded, Instance, Value
from analysis.library.knowledge import Subject
from estimator.library.command_line import run_function
from estimator.library.dataclass import fields_of
from estimator.library.language import domain_of
from estimator.library.paths import path_of

SUBJECT = Subject()


@SUBJECT.function("jsonargparse.CLI", "jsonargparse.auto_cli")
def _cli(call: Call) -> Value:
    target = call.get(0, "components")
    words = list(domain_of(call).request.arguments)
    if isinstance(target, dict) and words and words[0] in target:
        target = target[words.pop(0)]
    function = target.function if isinstance(target, Guarded) else target
    if not isinstance(function, Function):
        return run_function(call)
    if "-h" in words or "--help" in words:
        return None
    given = dict(_given(call, words, list(_required(function))))
    values = {name: _value(call, function, name, given) for name in dict.fromkeys(key.partition(".")[0] for key in given)}
    values = {name: value for name, value in values.items() if value is not MISSING}
    call.machine.state.setdefault("arguments", {}).update(values)
    return run_function(Call(call.machine, [target], {}, call.span))


def _required(function: Function) -> Iterator[str]:
    """Parameters without a default."""
    names = [argument.arg for argument in (*function.node.args.posonlyargs, *function.node.args.args)]
    yield from names[: len(names) - len(function.defaults)]


def _given(call: Call, words: Sequence[str], required: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Dotted names with their values, as a file and then the words say them."""
    positional = iter(required)
    name = ""
    for word in words:
        if word.startswith("--"):
            name, assigned, text = word[2:].partition("=")
            if assigned:
                yield from _setting(call, name, text)
                name = ""
        elif name:
            yield from _setting(call, name, word)
            name = ""
        else:
            yield next(positional, ""), _literal(word)


def _setting(call: Call, name: str, text: str) -> Iterator[tuple[str, Any]]:
    if name != "config":
        yield name, _literal(text)
        return
    document = yaml_document(call.machine, call.machine.open_file(text, call.span))
    yield from _flat("", document) if isinstance(document, dict) else ()


def _flat(prefix: str, values: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """A tree's leaves by dotted name; an object of a class that is named is its name and its arguments."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and "class_path" in value:
            yield name, value["class_path"]
            yield from _flat(f"{name}.", value.get("init_args") or {})
        elif isinstance(value, dict):
            yield from _flat(f"{name}.", value)
        else:
            yield name, value


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "null": None}.get(text, text)


def _value(call: Call, function: Function, name: str, given: dict[str, Any]) -> Value:
    """What a parameter is given: its own value, an object of a class, or its default's record with other fields."""
    inner = {key.partition(".")[2]: value for key, value in given.items() if key.startswith(f"{name}.")}
    own = given.get(name, MISSING)
    annotation = next((each.annotation for each in (*function.node.args.args, *function.node.args.kwonlyargs) if each.arg == name), None)
    takes_text = annotation is not None and "str" in ast.unparse(annotation)
    kind = _class_named(call, own) if isinstance(own, str) and not takes_text else None
    if kind is not None:
        return call.machine.call(kind, [], {key: _typed(call, value, None) for key, value in inner.items()}, call.span)
    if not inner:
        return _typed(call, own, annotation)
    default = _default_of(function, name)
    if not isinstance(default, Instance) or not fields_of(default.cls):
        return MISSING
    changed = {field: default.fields.get(field) for field in fields_of(default.cls)} | inner
    return call.machine.call(default.cls, [], changed, call.span)


def _typed(call: Call, value: Value, annotation: ast.expr | None) -> Value:
    """A text that stands for a path, as one; a number that stands for a text, as that."""
    if isinstance(value, (int, float)) and annotation is not None and ast.unparse(annotation) == "str":
        return str(value)
    is_path = annotation is not None and "Path" in ast.unparse(annotation)
    looks_so = annotation is None and isinstance(value, str) and "/" in value
    return path_of(call.machine, value) if isinstance(value, str) and (is_path or looks_so) else value


def _class_named(call: Call, name: str) -> Class | None:
    """The class of that name, or dotted name, in a module that was loaded."""
    last = name.rpartition(".")[2]
    found = (module.vars.get(last) for module in call.machine.loaded.values())
    return next((each for each in found if isinstance(each, Class) and last[:1].isupper()), None)


def _default_of(function: Function, name: str) -> Value:
    """The value of a parameter's default; None where it has none."""
    names = [argument.arg for argument in (*function.node.args.posonlyargs, *function.node.args.args)]
    defaults = dict(zip(names[len(names) - len(function.defaults) :], function.defaults, strict=True))
    return {**defaults, **function.kw_defaults}.get(name)
