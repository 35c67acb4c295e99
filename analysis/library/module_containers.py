"""Modules that hold modules: ``Sequential``, ``ModuleList``, ``ModuleDict`` and their like for parameters."""

from __future__ import annotations

from analysis.interpreter.values import Call, GuestDict, GuestList, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import CHILDREN, MODULE, expect_module

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch import nn

blocks = nn.ModuleList([nn.Linear(1, 1)])
blocks.append(nn.Linear(1, 1))
heads = nn.ModuleDict({"a": nn.Linear(1, 1)})
x = torch.zeros(1, 1)
for block in blocks:
    x = block(x)
for name, head in heads.items():
    head(x).sum().backward()
""",
            ("forward Linear", "forward Linear", "forward Linear", "backward"),
        ),
        Example(
            "import torch\nnet = torch.nn.ModuleDict({'head': torch.nn.Linear(1, 1)})\nnet.head(torch.zeros(1, 1)).sum().backward()\n",
            ("forward Linear", "backward"),
        ),
    ),
)

SEQUENTIAL = SUBJECT.cls("torch.nn.Sequential", MODULE)
LIST = SUBJECT.cls("torch.nn.ModuleList", MODULE)
SUBJECT.cls("torch.nn.ParameterList", "torch.nn.ModuleList")
DICT = SUBJECT.cls("torch.nn.ModuleDict", MODULE)
SUBJECT.cls("torch.nn.ParameterDict", "torch.nn.ModuleDict")


@SEQUENTIAL.method("__init__")
def _sequential(call: Call) -> Value:
    items = list(call.args[1:])
    if len(items) == 1 and isinstance(items[0], dict):
        items = list(items[0].values())
    if "*" in call.kwargs:
        items.append(domain_of(call).casting.symbol("layers that are not told", call.span, ()))
    _hold(call, items)


@LIST.method("__init__")
def _list(call: Call) -> Value:
    source = call.get(1, "modules", ())
    _hold(call, [_assumed(call) for _ in range(2)] if isinstance(source, Symbol) else call.machine.items(source, call.span))


def _assumed(call: Call) -> Instance:
    """A module that the source does not tell: something is in the list, or there would be none."""
    made = Instance(domain_of(call).library.cls("unknown.Model"), call.span, call.machine.stamp, assumed=True)
    made.fields["training"] = True
    return made


def _hold(call: Call, items: list[Value]) -> None:
    expect_module(items)
    held = GuestList(items)
    held.span, held.stamp = call.span, call.machine.stamp
    call.args[0].fields.update({CHILDREN: held, "training": True})


@DICT.method("__init__")
def _dict(call: Call) -> Value:
    source = call.get(1, "modules", ())
    held = GuestDict(source if isinstance(source, dict) else ())
    held.span, held.stamp = call.span, call.machine.stamp
    call.args[0].fields.update({CHILDREN: held, "training": True})


@DICT.method("__getattr__")
def _named(call: Call) -> Value:
    """A layer by its key: ``blocks.norm`` is ``blocks["norm"]``."""
    module, name = call.args
    held = module.fields.get(CHILDREN)
    if isinstance(held, dict) and name in held:
        return held[name]
    return call.machine.domain.unknown_attribute(call.machine, module, name, call.span)


@SEQUENTIAL.method("forward")
def _run_in_order(call: Call) -> Value:
    value = call.args[1] if len(call.args) > 1 else next(iter(call.kwargs.values()), None)
    for layer in call.args[0].fields.get(CHILDREN, ()):
        value = call.machine.call(layer, [value], {}, call.span)
    return value


def _on_children(name: str) -> HostFunction:
    """A method of the list or dict that a container module is."""

    def run(call: Call) -> Value:
        held = call.args[0].fields.get(CHILDREN, ())
        domain_of(call).ownership.changed()
        return call.machine.call(getattr(held, name), call.args[1:], call.kwargs, call.span)

    return HostFunction(name, run)


for _declared, _names in (
    (SEQUENTIAL, "append extend insert"),
    (LIST, "append extend insert"),
    (DICT, "keys values items update pop clear get"),
):
    for _name in _names.split():
        _declared.namespace[_name] = _on_children(_name)

for _declared in (SEQUENTIAL, LIST, DICT):

    @_declared.method("__iter__")
    def _iterate(call: Call) -> Value:
        return call.args[0].fields.get(CHILDREN, ())

    @_declared.method("__len__")
    def _length(call: Call) -> Value:
        return len(call.args[0].fields.get(CHILDREN, ()))

    @_declared.method("__getitem__")
    def _item(call: Call) -> Value:
        return call.machine.getitem(call.args[0].fields.get(CHILDREN, ()), call.args[1], call.span)

    @_declared.method("__setitem__")
    def _set_item(call: Call) -> Value:
        domain_of(call).ownership.changed()
        call.machine.setitem(call.args[0].fields[CHILDREN], call.args[1], call.args[2], call.span)

    @_declared.method("__setattr__")
    def _set_attribute(call: Call) -> Value:
        """``setattr(blocks, "0", layer)``, as one does who goes through ``named_children()``, replaces what is held under that name."""
        module, name, value = call.args
        held = module.fields.get(CHILDREN)
        key = int(name) if isinstance(held, list) and isinstance(name, str) and name.isdecimal() else name
        if (isinstance(held, list) and isinstance(key, int) and key < len(held)) or (isinstance(held, dict) and key in held):
            domain_of(call).ownership.changed()
            call.machine.setitem(held, key, value, call.span)
        else:
            call.machine.heap.write(module.fields, name, value)

    @_declared.method("__contains__")
    def _contains(call: Call) -> Value:
        return call.args[1] in call.args[0].fields.get(CHILDREN, ())
