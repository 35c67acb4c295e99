"""``absl.flags``: the values that flags are defined with, or that the caller sets, as attributes of one object."""

from __future__ import annotations

from analysis.interpreter.values import Call, Class, HostFunction, Instance, Symbol, Value
from analysis.library.knowledge import Subject

SUBJECT = Subject()
_FLAGS = SUBJECT.cls("absl.flags.FlagValues")
_KINDS = ("string", "integer", "float", "bool", "boolean", "enum", "list", "multi_string", "multi_integer", "enum_class", "multi_float", "multi_enum")


def _values(call: Call) -> Instance:
    """The one object of the run that holds every flag."""
    held: Instance = call.machine.state.setdefault("flags", None) or call.machine.instance(call.machine.domain.lookup("absl.flags.FlagValues"), call.span)
    call.machine.state["flags"] = held
    return held


def _define(call: Call) -> Value:
    machine, flags, name = call.machine, _values(call), call.args[0]
    machine.state.setdefault("asked", set()).add(name)
    default = machine.state.get("arguments", {}).get(name, call.get(1, "default"))
    machine.heap.write(flags.fields, name, default)
    machine.places[id(flags.fields), name] = call.span
    holder = machine.instance(flags.cls, call.span)
    holder.fields.update({"value": default, "name": name})
    return holder


@_FLAGS.method("__getattr__")
def _getattr(call: Call) -> Value:
    """``FLAGS.name``: the flags are the run's, whichever object they are asked of."""
    found = _values(call).fields
    return found[call.args[1]] if call.args[1] in found else Symbol(f"the flag {call.args[1]}", call.span)


@_FLAGS.method("__call__", "mark_as_parsed", "flag_values_dict")
def _parsed(call: Call) -> Value:
    return call.args[0]


#: Holds nothing itself: every run has flags of its own.
SUBJECT.values["absl.flags.FLAGS"] = Instance(Class("FlagValues", "absl.flags.FlagValues", (), dict(_FLAGS.namespace)))
SUBJECT.values.update({f"absl.flags.DEFINE_{kind}": HostFunction(f"absl.flags.DEFINE_{kind}", _define) for kind in _KINDS})
#: A tree of settings whose values may be set on the command line.
SUBJECT.values["ml_collections.config_flags.DEFINE_config_dict"] = HostFunction("ml_collections.config_flags.DEFINE_config_dict", _define)
SUBJECT.values["absl.flags.mark_flag_as_required"] = HostFunction("absl.flags.mark_flag_as_required", lambda _call: None)
