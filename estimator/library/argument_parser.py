"""``argparse``: a parser's defaults, with what the caller sets, as the namespace that the script reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.interpreter.values import MISSING, Call, GuestList, HostFunction, Instance, Symbol, Value
from analysis.library.knowledge import LibraryClass, Subject
from analysis.source import SourceFile
from estimator.library.language import domain_of
from estimator.request import as_value
from estimator.script.demanded import demanded

SUBJECT = Subject()
_PARSER = SUBJECT.cls("argparse.ArgumentParser")
_NAMESPACE = SUBJECT.cls("argparse.Namespace")
#: Actions that need no value and what they leave without being given.
_SWITCHES = {"store_true": False, "store_false": True, "store_const": None, "append": None, "count": None}


@_PARSER.method("__init__")
def _init(call: Call) -> Value:
    parents = call.kwargs.get("parents") or ()
    call.args[0].fields["arguments"] = {name: argument for parent in parents for name, argument in parent.fields.get("arguments", {}).items()}
    return None


@_PARSER.method("add_argument_group", "add_mutually_exclusive_group", "add_parser", "register")
def _group(call: Call) -> Value:
    return call.args[0]


@_PARSER.method("add_subparsers")
def _subparsers(call: Call) -> Value:
    return call.args[0]


@_PARSER.method("add_argument")
def _add(call: Call) -> Value:
    parser, *flags = call.args
    names = [flag for flag in flags if isinstance(flag, str)]
    if not names:
        return None
    long = next((name for name in names if name.startswith("--")), names[0])
    dest = call.kwargs.get("dest") or long.lstrip("-").replace("-", "_")
    parser.fields["arguments"][dest] = (_default(call, dest), call.span, call.kwargs.get("type", MISSING))
    if call.kwargs.get("nargs") in {"+", "*"} or isinstance(call.kwargs.get("nargs"), int):
        parser.fields.setdefault("many", {})[dest] = {name.lstrip("-").replace("-", "_") for name in names}
    return None


def _default(call: Call, dest: str) -> Value:
    if "default" in call.kwargs:
        return _converted(call, call.kwargs["default"])
    action = call.kwargs.get("action", "store")
    if isinstance(action, str) and action in _SWITCHES:
        return _SWITCHES[action]
    positional = isinstance(call.args[1], str) and not call.args[1].startswith("-")
    if call.kwargs.get("required") is True or (positional and call.kwargs.get("nargs") not in {"?", "*"}):
        return Symbol(f"the argument {dest}", call.span)
    return None


def _converted(call: Call, default: Value) -> Value:
    """A default given as text goes through ``type``, as argparse does."""
    kind = call.kwargs.get("type")
    return call.machine.call(kind, [default], {}, call.span) if isinstance(default, str) and kind is not None else default


@_PARSER.method("set_defaults")
def _set_defaults(call: Call) -> Value:
    parser = call.args[0]
    for name, value in call.kwargs.items():
        parser.fields["arguments"][name] = (value, call.span, MISSING)
    return None


@_PARSER.method("get_default")
def _get_default(call: Call) -> Value:
    return call.args[0].fields["arguments"].get(call.args[1], (None,))[0]


@_PARSER.method("parse_args", "parse_intermixed_args")
def _parse(call: Call) -> Value:
    return _namespace(call)


@_PARSER.method("parse_known_args")
def _parse_known(call: Call) -> Value:
    return (_namespace(call), list(_left_over(call)))


def _left_over(call: Call) -> Iterator[str]:
    """The words of the command line that are no options of the parser, nor their values."""
    known: dict[str, Any] = call.args[0].fields["arguments"]
    unknown_before = False
    for word in domain_of(call).request.arguments:
        name = word.partition("=")[0].lstrip("-").replace("-", "_")
        is_option = word.startswith("-") and not word[1:2].isdigit()
        left = name not in known if is_option else unknown_before or "=" in word or word.startswith("~")
        unknown_before = is_option and left and "=" not in word
        if left:
            yield word


def _without_bare(call: Call, given: dict[str, Any]) -> dict[str, Any]:
    """``given`` without what a word ``name=value`` says: that is no option."""
    words = domain_of(call).request.arguments
    bare = {word.partition("=")[0] for word in words if "=" in word and not word.startswith("-")}
    return {name: value for name, value in given.items() if name not in bare or name in call.machine.overrides}


def _values_of(call: Call, names: set[str], first: Value) -> Value:
    """All the values of an option that takes many: the words behind it, up to the next option."""
    words = domain_of(call).request.arguments
    start = next((place for place, word in enumerate(words) if word.startswith("-") and word.lstrip("-").replace("-", "_") in names), None)
    if start is None or isinstance(first, (list, tuple)):
        return first if isinstance(first, (list, tuple)) else GuestList([first])
    end = next((place for place, word in enumerate(words[start + 1 :], start + 1) if word.startswith("--")), len(words))
    return GuestList([first, *(as_value(word) for word in words[start + 2 : end])])


def _namespace(call: Call) -> Instance:
    machine = call.machine
    given = _without_bare(call, machine.state.get("arguments", {}))
    found = machine.domain.lookup("argparse.Namespace")
    namespace = machine.instance(found, call.span)
    machine.state.setdefault("asked", set()).update(call.args[0].fields["arguments"])
    many: dict[str, set[str]] = call.args[0].fields.get("many", {})
    for name, (default, span, _) in call.args[0].fields["arguments"].items():
        value = _values_of(call, many[name], given[name]) if name in many and name in given else given.get(name, default)
        machine.heap.write(namespace.fields, name, value)
        if machine.domain.tracks_places:
            machine.places[(id(namespace.fields), name)] = span
    _fill_demanded(call, namespace.fields)
    return namespace


def _fill_demanded(call: Call, fields: dict[str, Any]) -> None:
    """An argument that nobody gives, and without which the script ends in an error of its own, is taken as given; of several that would do, the first."""
    source, known = call.machine.snapshot.source(call.span.path), call.args[0].fields["arguments"]
    for group in demanded(source) if isinstance(source, SourceFile) else ():
        if all(name in known and fields.get(name) is None for name in group):
            fields[group[0]] = Symbol(f"the argument {group[0]}", known[group[0]][1])


@_PARSER.method("print_help", "print_usage", "error", "exit")
def _nothing(_call: Call) -> Value:
    return None


@_NAMESPACE.method("__init__")
def _namespace_init(call: Call) -> Value:
    machine, fields = call.machine, call.args[0].fields
    fields.update(call.kwargs)
    machine.places.update({(id(fields), name): span for name, span in machine.argument_places[1].items() if span is not None})
    return None


@_NAMESPACE.method("__contains__")
def _contains(call: Call) -> Value:
    return call.args[1] in call.args[0].fields


SUBJECT.classes["types.SimpleNamespace"] = LibraryClass("types.SimpleNamespace", (), dict(_NAMESPACE.namespace))
SUBJECT.values.update({"argparse.ArgumentDefaultsHelpFormatter": HostFunction("formatter", lambda _call: None)})
