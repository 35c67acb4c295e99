"""Tuples with names, methods of Python's containers that are named without an object, and INI files."""

from __future__ import annotations

import configparser
from typing import Any

from analysis.interpreter.containers import BASES
from analysis.interpreter.values import Call, GuestDict, HostFunction, Instance, Symbol, Value
from analysis.library import structures
from analysis.library.knowledge import Subject

SUBJECT = Subject()
#: The knowledge of named tuples is the same for the trace and the tape.
SUBJECT.values["collections.namedtuple"] = structures.SUBJECT.values["collections.namedtuple"]
SUBJECT.classes["typing.NamedTuple"] = structures.SUBJECT.classes["typing.NamedTuple"]
#: ``__getattr__ = dict.__getitem__``, as in classes whose keys are attributes.
SUBJECT.values.update(
    {
        f"{kind}.{name}": method
        for kind in ("dict", "list")
        for name, method in BASES[kind].namespace.items()
        if isinstance(method, HostFunction) and name != "__class_getitem__"
    }
)
_PARSER = SUBJECT.cls("configparser.ConfigParser")


@_PARSER.method("__init__")
def _init(call: Call) -> Value:
    call.args[0].fields["sections"] = GuestDict()
    return None


@_PARSER.method("read", "read_file")
def _read(call: Call) -> Value:
    """The sections of the files that the repository has."""
    machine, (parser, given) = call.machine, call.args[:2]
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    for path in given if isinstance(given, (list, tuple)) else [given]:
        text = getattr(path, "text", None) if not isinstance(path, str) else machine.open_file(path, call.span).text
        try:
            parsed.read_string(text or "")
        except configparser.Error:
            parser.fields["sections"] = Symbol(f"the content of {path}, which cannot be read", call.span)
            return []
    for name in parsed.sections():
        section = machine.instance(machine.domain.lookup("configparser.ConfigParser"), call.span)
        section.fields.update({"sections": GuestDict(parsed[name])})
        parser.fields["sections"][name] = section
    return [given]


def _option(call: Call) -> Value:
    """The text of ``parser.get(section, name)``, or of ``section.get(name)``."""
    held: Any = call.args[0].fields["sections"]
    for key in call.args[1:]:
        found = held.get(key) if isinstance(held, dict) else None
        if found is None:
            return call.kwargs.get("fallback", Symbol(f"the setting {key}", call.span))
        held = found.fields["sections"] if isinstance(found, Instance) else found
    return held


@_PARSER.method("get")
def _get(call: Call) -> Value:
    return _option(call)


@_PARSER.method("__getitem__")
def _getitem(call: Call) -> Value:
    held = call.args[0].fields["sections"]
    return held.get(call.args[1], Symbol(f"the section {call.args[1]}", call.span)) if isinstance(held, dict) else held


@_PARSER.method("getint")
def _getint(call: Call) -> Value:
    found = _option(call)
    return int(found) if isinstance(found, str) else found


@_PARSER.method("getfloat")
def _getfloat(call: Call) -> Value:
    found = _option(call)
    return float(found) if isinstance(found, str) else found


@_PARSER.method("getboolean")
def _getboolean(call: Call) -> Value:
    found = _option(call)
    return configparser.ConfigParser.BOOLEAN_STATES.get(found.lower(), False) if isinstance(found, str) else found


@_PARSER.method("sections", "keys", "options")
def _names(call: Call) -> Value:
    return list(call.args[0].fields["sections"])


@_PARSER.method("__contains__", "has_section")
def _contains(call: Call) -> Value:
    return call.args[1] in call.args[0].fields["sections"]


@_PARSER.method("items")
def _items(call: Call) -> Value:
    return list(call.args[0].fields["sections"].items())
