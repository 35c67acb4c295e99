"""``nn.Module``: calling one, its parameters and children, train and eval, moving, freezing."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import MISSING, Call, Function, HostFunction, Instance, Method, Symbol, Value
from analysis.library.domain import TraceDomain, domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.outputs import gather_owners, held_in
from analysis.library.ownership import BUFFERS, CHILDREN, MODULE, UNSEEN, children_of, modules_in, owner_of
from analysis.library.parts import ModelPart, forwarding, run_unknown, with_graph
from analysis.library.recording import SOMEWHERE, emit, modes
from analysis.library.replay import Replays
from analysis.library.states import StateDict
from analysis.library.tensor import Parameters, Tensor
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        return self.body(x)

net = Net()
net.eval()
net.train()
net.zero_grad()
net(torch.randn(2, 4)).sum().backward()
""",
            ("eval Net", "train Net", "zero_grad Net", "forward Net", "backward"),
        ),
        Example(
            """
import torch
from torch import nn

net = nn.Linear(2, 2)
for p in net.parameters():
    p.grad = None
""",
            ("zero_grad Linear",),
        ),
    ),
)

#: Of a model: it computes activations anew in the backward instead of keeping them.
CHECKPOINTED = "module: checkpointed"
MODULE_CLASS = SUBJECT.cls(MODULE)
SUBJECT.alias("torch.nn.Module", "torch.nn.modules.module.Module", "torch.nn.modules.Module")


@MODULE_CLASS.method("__init__")
def _init(call: Call) -> Value:
    call.args[0].fields.setdefault("training", True)


@MODULE_CLASS.method("__call__", "_call_impl")
def _call(call: Call) -> Value:
    module, domain = call.args[0], domain_of(call)
    owner = owner_of(module)
    domain.casting.feeds(module, call.args[1:], call.kwargs)
    with forwarding(domain, owner) as outermost:
        result = _forward(domain, module, call, outermost=outermost)
        if outermost and owner.fields.get(UNSEEN) is True:
            result = with_graph(domain, owner, result)
    if outermost:
        gather_owners(domain, owner, result)
    if outermost and not (owner.cls.dotted.startswith("torch.nn.") and not domain.ownership.atoms(owner, trainable=False)):
        emit(call.machine, Kind.FORWARD, subject=owner, value=held_in(result), detail=(*call.args[1:], *call.kwargs.values()))
    return result


def _hooked(module: Instance, call: Call, output: Value) -> Value:
    """The output of a forward after the hooks that were registered for it."""
    for hook in module.fields.get("hooks: forward", ()):
        changed = call.machine.call(hook, [module, tuple(call.args), output], {}, call.span)
        output = output if changed is None else changed
    return output


def _forward(domain: TraceDomain, module: Instance, call: Call, *, outermost: bool) -> Value:
    forward = module.fields.get("forward", module.cls.find("forward"))
    given = Call(call.machine, call.args[1:], dict(call.kwargs), call.span)
    if forward is MISSING:
        return _hooked(module, given, run_unknown(domain, module, given, "forward"))
    bound = Method(forward, module) if "forward" not in module.fields else forward

    def walk() -> Value:
        return _hooked(module, given, call.machine.call(bound, list(given.args), dict(given.kwargs), call.span))

    called_first = outermost or modes(call.machine).forwarding is module  # by itself, or by what wraps it
    if not called_first or not isinstance(forward, Function):
        return walk()
    return replays_of(domain).result(domain, module, call, walk)


def replays_of(domain: TraceDomain) -> Replays:
    """The forwards that this run has walked."""
    found = domain.machine.state.get("replays")
    if not isinstance(found, Replays):
        found = domain.machine.state["replays"] = Replays()
    return found


@MODULE_CLASS.method("train")
def _train(call: Call) -> Value:
    mode = call.get(1, "mode", default=True)
    decided = mode if isinstance(mode, bool) else call.machine.truth(mode, call.span) is not False
    return _switch(call, training=decided)


@MODULE_CLASS.method("eval")
def _eval(call: Call) -> Value:
    return _switch(call, training=False)


def _switch(call: Call, *, training: bool) -> Value:
    module = call.args[0]
    emit(call.machine, Kind.TRAIN_MODE if training else Kind.EVAL_MODE, subject=owner_of(module))
    for each in modules_in(module):
        call.machine.heap.write(each.fields, "training", training)
    return module


@MODULE_CLASS.method("parameters")
def _parameters(call: Call) -> Value:
    domain_of(call).ownership.expect_parameters(owner_of(call.args[0]))
    return Parameters(domain_of(call).autograd, (owner_of(call.args[0]),))


@MODULE_CLASS.method("named_parameters")
def _named_parameters(call: Call) -> Value:
    domain_of(call).ownership.expect_parameters(owner_of(call.args[0]))
    return Parameters(domain_of(call).autograd, (owner_of(call.args[0]),), named=True)


@MODULE_CLASS.method("zero_grad")
def _zero_grad(call: Call) -> Value:
    emit(call.machine, Kind.ZERO_GRAD, subject=owner_of(call.args[0]))


@MODULE_CLASS.method("requires_grad_")
def _require(call: Call) -> Value:
    domain_of(call).ownership.freeze(call.args[0], call.get(1, "requires_grad", default=True) is False)
    return call.args[0]


def _move(name: str) -> HostFunction:
    """``to``, or a method named after a device or a type."""

    def run(call: Call) -> Value:
        target = tuple(call.args[1:]) if name == "to" else (name, *call.args[1:])
        emit(call.machine, Kind.TO_DEVICE, subject=owner_of(call.args[0]), value=call.args[0], detail=(*target, *call.kwargs.values()))
        return call.args[0]

    return HostFunction(name, run)


for _name in ("to", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "to_empty", "xpu", "npu"):
    MODULE_CLASS.namespace[_name] = _move(_name)


@MODULE_CLASS.method("children")
def _children(call: Call) -> Value:
    return [child for _, child in _named(call.args[0])]


@MODULE_CLASS.method("modules")
def _modules(call: Call) -> Value:
    return list(modules_in(call.args[0]))


@MODULE_CLASS.method("named_children")
def _named_children(call: Call) -> Value:
    return list(_named(call.args[0]))


@MODULE_CLASS.method("named_modules")
def _named_modules(call: Call) -> Value:
    domain = domain_of(call)
    return [(domain.casting.symbol("the name of a module", call.span, call.machine.stamp), each) for each in modules_in(call.args[0])]


def _named(module: Instance) -> Iterator[tuple[str, Value]]:
    if module.cls.find("is_unknown") is True:
        yield "0", ModelPart(module, "child", module.span) if module.span is not None else module
    yield from children_of(module)


@MODULE_CLASS.method("buffers", "named_buffers")
def _buffers(_call: Call) -> Value:
    return ()


@MODULE_CLASS.method("state_dict")
def _state_dict(call: Call) -> Value:
    if call.args[0].cls.find("gathers") is True:
        emit(call.machine, Kind.COLLECTIVE, subject="FSDP's state dict", value=call.args[0])
    made = StateDict()
    made.span, made.stamp = call.span, call.machine.stamp
    autograd = domain_of(call).autograd
    made[Symbol("the name of a parameter", call.span, call.machine.stamp or SOMEWHERE)] = autograd.plain(
        "data", autograd.representative(owner_of(call.args[0]))
    )
    return made


@MODULE_CLASS.method("load_state_dict")
def _load(call: Call) -> Value:
    return domain_of(call).casting.symbol("the keys that did not match", call.span, call.machine.stamp)


@MODULE_CLASS.method("apply")
def _apply(call: Call) -> Value:
    for module in list(modules_in(call.args[0]))[:64]:
        call.machine.call(call.args[1], [module], {}, call.span)
    return call.args[0]


@MODULE_CLASS.method("register_buffer")
def _register_buffer(call: Call) -> Value:
    if isinstance(call.args[1], str):
        value = call.get(2, "tensor")
        kept = domain_of(call).autograd.plain("buffer", value) if isinstance(value, Tensor) else value
        fields = call.args[0].fields
        call.machine.heap.write(fields, call.args[1], kept)
        call.machine.heap.write(fields, BUFFERS, (*fields.get(BUFFERS, ()), call.args[1]))


@MODULE_CLASS.method("register_parameter", "add_module", "register_module")
def _register(call: Call) -> Value:
    fields, name, value = call.args[0].fields, call.get(1, "name"), call.get(2, "param", call.kwargs.get("module"))
    held = fields.get(CHILDREN)
    if isinstance(held, (list, dict)):
        call.machine.heap.touch(held)
        if isinstance(held, dict):
            held[name] = value
        else:
            held.append(value)
    else:
        call.machine.heap.write(fields, name if isinstance(name, str) else f"{CHILDREN} {call.span.start} {call.machine.stamp}", value)
    domain_of(call).ownership.changed()


@MODULE_CLASS.method("register_forward_hook")
def _forward_hook(call: Call) -> Value:
    fields = call.args[0].fields
    call.machine.heap.write(fields, "hooks: forward", (*fields.get("hooks: forward", ()), call.args[1]))
    return domain_of(call).casting.symbol("a handle", call.span, ())


@MODULE_CLASS.method("register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook", "register_load_state_dict_post_hook")
def _hook(call: Call) -> Value:
    return domain_of(call).casting.symbol("a handle", call.span, ())


@MODULE_CLASS.method("get_submodule")
def _submodule(call: Call) -> Value:
    current: Value = call.args[0]
    for name in str(call.get(1, "target", "")).split("."):
        current = call.machine.getattr(current, name, call.span)
    return current


@MODULE_CLASS.method("get_parameter")
def _get_parameter(call: Call) -> Value:
    return domain_of(call).autograd.representative(owner_of(call.args[0]), partial=True)


@MODULE_CLASS.method("share_memory", "compile", "extra_repr", "_init_weights", "__setstate__")
def _unchanged(call: Call) -> Value:
    return call.args[0]


@MODULE_CLASS.method("gradient_checkpointing_enable")
def _checkpoint(call: Call) -> Value:
    call.machine.heap.write(owner_of(call.args[0]).fields, CHECKPOINTED, True)  # noqa: FBT003


@SUBJECT.function("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def _parameter(call: Call) -> Value:
    autograd = domain_of(call).autograd
    if call.get(1, "requires_grad", default=True) is False:
        return autograd.plain("tensor", call.get(0, "data"))
    return autograd.parameter(None)
