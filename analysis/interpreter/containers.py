"""Guest classes that inherit from Python's containers: the content is a container of its own behind the object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.interpreter.values import MISSING, Call, Class, GuestDict, GuestList, GuestSet, HostFunction, Instance, Value

if TYPE_CHECKING:
    from collections.abc import Callable

#: The name under which an object keeps its content; no identifier of a program.
_CONTENT = "<content>"
_KINDS: dict[str, Callable[..., Any]] = {"dict": GuestDict, "OrderedDict": GuestDict, "list": GuestList, "set": GuestSet}
#: Names of ``typing`` that are inherited from for the container.
_ALIASES = {"Dict": "dict", "List": "list", "Set": "set", "Tuple": "tuple"}
_METHODS = {
    "dict": "get items keys values pop popitem update setdefault clear copy",
    "list": "append extend insert pop remove clear index count reverse sort copy",
    "set": "add discard remove update clear union intersection difference copy",
    "tuple": "index count",
}
_METHODS["OrderedDict"] = f"{_METHODS['dict']} move_to_end"


def _content(call: Call, kind: str) -> Any:
    receiver: Instance = call.args[0]
    content = receiver.fields.get(_CONTENT, MISSING)
    if content is MISSING:
        content = () if kind == "tuple" else _KINDS[kind]()
        if not isinstance(content, tuple):
            content.span, content.stamp = receiver.span, receiver.stamp
        receiver.fields[_CONTENT] = content
    return content


def _delegate(kind: str, name: str) -> HostFunction:
    """A method of the content."""

    def run(call: Call) -> Value:
        method = call.machine.getattr(_content(call, kind), name, call.span)
        return call.machine.call(method, call.args[1:], call.kwargs, call.span)

    return HostFunction(f"{kind}.{name}", run)


def _special(kind: str) -> dict[str, Value]:
    def init(call: Call) -> Value:
        content = _content(call, kind)
        if kind == "tuple" and call.args[1:]:
            call.args[0].fields[_CONTENT] = tuple(call.machine.iterate(call.args[1], call.span))
        elif call.args[1:] or call.kwargs:
            filled = call.machine.call(call.machine.builtins["dict" if "ict" in kind else kind], call.args[1:], call.kwargs, call.span)
            method = "update" if "ict" in kind or kind == "set" else "extend"
            call.machine.call(call.machine.getattr(content, method, call.span), [filled], {}, call.span)
        return None

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
        "__init__": init,
        "__getitem__": get_item,
        "__setitem__": set_item,
        "__delitem__": delete_item,
        "__len__": lambda call: len(_content(call, kind)),
        "__iter__": lambda call: iter(list(_content(call, kind))),
        "__contains__": lambda call: call.args[1] in _content(call, kind),
    }
    return {name: HostFunction(f"{kind}.{name}", handler) for name, handler in handlers.items()}


#: What inheriting from a container means, by the container's name.
BASES: dict[str, Class] = {
    kind: Class(kind, f"builtins.{kind}", (), {**_special(kind), **{name: _delegate(kind, name) for name in methods.split()}})
    for kind, methods in _METHODS.items()
}
BASES.update({alias: BASES[kind] for alias, kind in _ALIASES.items()})
