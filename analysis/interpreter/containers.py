"""Guest classes that inherit from Python's containers: the content is a container of its own behind the object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import MISSING, Call, Class, GuestDict, GuestList, GuestSet, HostFunction, Instance, Value

if TYPE_CHECKING:
    from collections.abc import Callable

#: The name under which an object keeps its content; no identifier of a program.
_CONTENT = "<content>"
_FACTORY = "<factory>"
_KINDS: dict[str, Callable[..., Any]] = {
    "dict": GuestDict, "OrderedDict": GuestDict, "UserDict": GuestDict, "defaultdict": GuestDict, "Counter": GuestDict,
    "list": GuestList, "UserList": GuestList, "set": GuestSet,
}  # fmt: skip
#: Those that make what is missing.
_MAKING = frozenset({"defaultdict", "Counter"})
#: Names of ``typing`` that are inherited from for the container.
_ALIASES = {"Dict": "dict", "List": "list", "Set": "set", "Tuple": "tuple"}
_METHODS = {
    "dict": "get items keys values pop popitem update setdefault clear copy",
    "list": "append extend insert pop remove clear index count reverse sort copy",
    "set": "add discard remove update clear union intersection difference copy",
    "tuple": "index count",
}
_METHODS["OrderedDict"] = f"{_METHODS['dict']} move_to_end"
_METHODS.update({"UserDict": _METHODS["dict"], "defaultdict": _METHODS["dict"], "Counter": _METHODS["dict"], "UserList": _METHODS["list"]})


def _content(call: Call, kind: str) -> Any:
    receiver: Instance = call.args[0]
    if isinstance(receiver.fields, GuestDict):  # of an object whose names are its keys
        return receiver.fields
    content = receiver.fields.get(_CONTENT, MISSING)
    if content is MISSING:
        content = () if kind == "tuple" else _KINDS[kind]()
        if not isinstance(content, tuple):
            content.span, content.stamp = receiver.span, receiver.stamp
        receiver.fields[_CONTENT] = content
    return content


def name_by_keys(owner: Instance, namespace: Value) -> bool:
    """``owner.__dict__ = namespace``: from now on its attributes are what that holds; whether it is a dictionary."""
    names = namespace.fields.get(_CONTENT) if isinstance(namespace, Instance) else namespace
    if not isinstance(names, GuestDict):
        return False
    owner.fields = names
    return True


def _delegate(kind: str, name: str) -> HostFunction:
    """A method of the content."""

    def run(call: Call) -> Value:
        method = call.machine.getattr(_content(call, kind), name, call.span)
        return call.machine.call(method, call.args[1:], call.kwargs, call.span)

    return HostFunction(f"{kind}.{name}", run)


def _initial(kind: str) -> Callable[[Call], Value]:
    """The constructor: it fills the content."""
    plain = "dict" if _KINDS.get(kind) is GuestDict else "list" if kind == "UserList" else kind

    def init(call: Call) -> Value:
        content = _content(call, kind)
        given = call.args[1:]
        if kind == "defaultdict":
            call.args[0].fields[_FACTORY], given = next(iter(given), None), given[1:]
        if kind == "tuple" and given:
            call.args[0].fields[_CONTENT] = tuple(call.machine.iterate(given[0], call.span))
        elif (given or call.kwargs) and kind != "Counter":
            filled = call.machine.call(call.machine.builtins[plain], given, call.kwargs, call.span)
            method = "extend" if plain == "list" else "update"
            call.machine.call(call.machine.getattr(content, method, call.span), [filled], {}, call.span)
        return None

    return init


def _missing(call: Call) -> Value:
    """What a ``defaultdict`` makes of a key that is not there, and a ``Counter`` counts."""
    factory = call.args[0].fields.get(_FACTORY)
    if factory is None:
        return 0
    made = call.machine.call(factory, [], {}, call.span)
    call.machine.setitem(_content(call, "defaultdict"), call.args[1], made, call.span)
    return made


def _special(kind: str) -> dict[str, Value]:
    def get_item(call: Call) -> Value:
        content = _content(call, kind)
        if isinstance(content, dict) and call.args[1] not in content:
            missing = call.args[0].cls.find("__missing__")
            if missing is not MISSING:
                return call.machine.call(missing, [call.args[0], call.args[1]], {}, call.span)
        return call.machine.getitem(content, call.args[1], call.span)

    def set_item(call: Call) -> Value:
        call.machine.setitem(_content(call, kind), call.args[1], call.args[2], call.span)
        return None

    def delete_item(call: Call) -> Value:
        content = _content(call, kind)
        call.machine.heap.touch(content)
        del content[call.args[1]]
        return None

    handlers: dict[str, Callable[[Call], Value]] = {
        "__init__": _initial(kind),
        "__getitem__": get_item,
        "__setitem__": set_item,
        "__delitem__": delete_item,
        "__len__": lambda call: len(_content(call, kind)),
        "__iter__": lambda call: iter(list(_content(call, kind))),
        "__contains__": lambda call: call.args[1] in _content(call, kind),
    }
    handlers.update({"__missing__": _missing} if kind in _MAKING else {})
    return {name: HostFunction(f"{kind}.{name}", handler) for name, handler in handlers.items()}


#: What inheriting from a container means, by the container's name.
BASES: dict[str, Class] = {
    kind: Class(kind, f"builtins.{kind}", (), {**_special(kind), **{name: _delegate(kind, name) for name in methods.split()}})
    for kind, methods in _METHODS.items()
}
BASES.update({alias: BASES[kind] for alias, kind in _ALIASES.items()})
