"""``inspect``: the names of what a function, or the constructor of a class, takes."""

from __future__ import annotations

from analysis.interpreter.values import Call, Class, Function, GuestList, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import is_module

SUBJECT = Subject(
    examples=(
        Example(
            """
import inspect
import torch

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = torch.nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x)

taken = inspect.getfullargspec(Block)
net = Block(4) if "width" in taken.args + taken.kwonlyargs else torch.nn.Identity()
net.train()
if "width" not in inspect.getfullargspec(net).args:
    net.eval()
""",
            ("train Block", "eval Block"),
        ),
    ),
)

SUBJECT.cls("inspect.FullArgSpec")


@SUBJECT.function("inspect.getfullargspec")
def _taken(call: Call) -> Value:
    """Of what the source does not tell, something unknown; a module that is called hands on whatever it is given."""
    asked = call.get(0, "func")
    function = asked.find("__init__") if isinstance(asked, Class) else asked
    if not isinstance(function, Function) and not is_module(asked):
        return domain_of(call).casting.symbol("what a function takes", call.span, ())
    arguments = function.node.args if isinstance(function, Function) else None
    by_place = [each.arg for each in (*arguments.posonlyargs, *arguments.args)] if arguments is not None else ["self"]
    by_name = [each.arg for each in arguments.kwonlyargs] if arguments is not None else []
    spec = call.machine.instance(domain_of(call).library.cls("inspect.FullArgSpec"), call.span)
    rest = {"varargs": arguments.vararg, "varkw": arguments.kwarg} if arguments is not None else {}
    unknown = {name: domain_of(call).casting.symbol(name, call.span, ()) for name in ("varargs", "varkw", "defaults", "kwonlydefaults", "annotations")}
    told = {name: each.arg if each is not None else None for name, each in rest.items()}
    spec.fields.update({"args": _listed(call, by_place), "kwonlyargs": _listed(call, by_name), **unknown, **told})
    return spec


def _listed(call: Call, names: list[str]) -> GuestList:
    found = GuestList(names)
    found.span, found.stamp = call.span, call.machine.stamp
    return found
