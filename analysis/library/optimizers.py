"""Optimizers: the parameters they were given, their groups, what a step reads and a closure does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from analysis.interpreter.joins import alternatives_of
from analysis.interpreter.values import Call, Function, Guarded, GuestDict, GuestList, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import is_module, owner_of
from analysis.library.parts import ModelPart
from analysis.library.recording import captured, emit, restored
from analysis.library.tensor import Owner, Parameters, Tensor
from analysis.syntax import walk
from analysis.trace.events import Kind

OPTIMIZER = "torch.optim.Optimizer"
#: Who prepared an optimizer (an ``Accelerator``): it passes steps over while gradients accumulate.
PREPARED = "optimizer: prepared by"
#: Where the machine's state holds the scaler that runs the step of an object around an optimizer.
STEPPED_BY = "stepped by"
SYNCHRONISES = "prepared: gradients synchronise"
#: The parameters that an optimizer updates, under a name that no guest attribute can have.
OWNERS = "optimizer: owners"
#: What each group was given, as it was written: whole ``parameters()`` of a module, or something picked from them.
GIVEN = "optimizer: given"
#: The layers and single parameters that these owners consisted of when the optimizer was given them.
HELD = "optimizer: held"

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch

class Lion(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad.sign())

Lion([torch.nn.Parameter(torch.ones(1))]).step()
clipped = type("Clipped", (torch.optim.SGD,), {"step": lambda self, closure=None: None})
clipped([torch.nn.Parameter(torch.ones(1))], lr=0.1).step()

class Clearing(Lion):
    def step(self, closure=None):
        super().step(closure)
        self.zero_grad()

Clearing([torch.nn.Parameter(torch.ones(1))]).step()
""",
            ("optimizer_built Lion", "step Lion", "optimizer_built Clipped", "step Clipped", "step Clearing", "zero_grad Clearing"),
        ),
        Example(
            """
import torch

class Slow(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner

    def step(self, closure=None):
        return self.inner.step(closure)

opt = Slow(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1))
opt.step()
""",
            ("optimizer_built SGD", "step SGD"),
        ),
        Example(
            """
import torch
from torch import nn

net = nn.Linear(1, 1)
opt = torch.optim.LBFGS(net.parameters())

def closure():
    opt.zero_grad()
    loss = net(torch.zeros(1, 1)).sum()
    loss.backward()
    return loss

opt.step(closure)
""",
            ("optimizer_built LBFGS", "zero_grad LBFGS", "forward Linear", "backward", "step LBFGS", "zero_grad LBFGS", "backward", "step LBFGS"),
        ),
        Example(
            """
import torch
from torch import nn

net = nn.Linear(1, 1)
opt = torch.optim.AdamW([{"params": net.parameters(), "lr": 0.1}])
for group in opt.param_groups:
    group["lr"] *= 0.5
    for p in group["params"]:
        p.grad = None
opt.step()
""",
            ("optimizer_built AdamW", "zero_grad Linear", "step AdamW"),
        ),
    ),
)

_OPTIMIZER = SUBJECT.cls(OPTIMIZER)
SUBJECT.alias(OPTIMIZER, "torch.optim.optimizer.Optimizer")
SUBJECT.subclasses(OPTIMIZER, "torch.optim", "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD LBFGS SparseAdam Adafactor Muon")
for _package, _names in (
    ("transformers", "AdamW Adafactor"),
    ("transformers.optimization", "AdamW Adafactor"),
    ("apex.optimizers", "FusedAdam FusedSGD FusedLAMB FusedNovoGrad"),
    ("bitsandbytes.optim", "Adam8bit AdamW8bit Adam AdamW PagedAdamW PagedAdamW8bit PagedAdamW32bit Lion Lion8bit SGD8bit"),
    ("deepspeed.ops.adam", "FusedAdam DeepSpeedCPUAdam"),
    ("lion_pytorch", "Lion"),
    ("torch_optimizer", "RAdam Lookahead Lamb Ranger AdaBelief"),
    ("prodigyopt", "Prodigy"),
    ("dadaptation", "DAdaptAdam DAdaptSGD"),
    ("adabelief_pytorch", "AdaBelief"),
):
    SUBJECT.subclasses(OPTIMIZER, _package, _names)
_FILES = "sgd adam adamw adamax nadam radam adagrad adadelta rmsprop rprop asgd lbfgs sparse_adam"
for _file in _FILES.split():
    SUBJECT.alias("torch.optim", f"torch.optim.{_file}")


def owners_in(value: Value) -> Iterator[Owner]:
    """What owns the parameters that an optimizer, a clip or an average was given."""
    match value:
        case Parameters(owners=owners):
            yield from owners
        case Tensor():
            yield from value.owners or (value,)
        case ModelPart(owner=owner):
            yield owner_of(owner)
        case Instance() if is_module(value):
            yield owner_of(value)
        case dict():
            yield from owners_in(value.get("params", list(value.values())))
        case Symbol() | str():
            return
        case list() | tuple() | set() | frozenset():
            for each in value:
                yield from owners_in(each)


def held_by(optimizer: Instance) -> frozenset[Owner]:
    """What held parameters when the optimizer got them; of several ways, all."""
    return frozenset(chain(*alternatives_of(optimizer.fields.get(HELD, ()))))


def parameters_of(optimizer: Instance) -> tuple[Owner, ...]:
    """What the optimizer updates, of several ways in any of them; empty if that is not known."""
    return tuple(dict.fromkeys(chain(*alternatives_of(optimizer.fields.get(OWNERS, ())))))


@_OPTIMIZER.method("__init__")
def _init(call: Call) -> Value:
    optimizer, given = call.args[0], call.get(1, "params")
    if not isinstance(given, (Symbol, Parameters, Tensor, dict, str)) and given is not None:
        given = call.machine.items(given, call.span)
    options = {key: value for key, value in call.kwargs.items() if key != "params"}
    if call.given(2, "lr"):
        options.setdefault("lr", call.get(2, "lr"))
    owners = tuple(dict.fromkeys(owners_in(given)))
    groups = given if isinstance(given, list) and given and all(isinstance(each, dict) for each in given) else [{"params": given}]
    optimizer.fields[GIVEN] = tuple(group.get("params") if isinstance(group, dict) else group for group in groups)
    optimizer.fields.update({OWNERS: owners, HELD: _held(call, owners), "param_groups": _groups(call, groups, options)})
    optimizer.fields.update({"state": _dict(call, {}), "defaults": _dict(call, options)})
    emit(call.machine, Kind.OPTIMIZER_BUILT, subject=optimizer, value=Parameters(domain_of(call).autograd, owners), detail=options)


def _held(call: Call, owners: Iterable[Owner]) -> frozenset[Owner]:
    ownership = domain_of(call).ownership
    return frozenset().union(*(ownership.atoms(owner, trainable=False) for owner in owners))


def _groups(call: Call, groups: list[dict[Value, Value]], options: dict[str, Value]) -> GuestList:
    unknown = domain_of(call).casting.symbol("the learning rate", call.span, ())
    made = GuestList(_dict(call, {"lr": unknown, **options, **group}) for group in groups)
    made.span, made.stamp = call.span, call.machine.stamp
    return made


def _dict(call: Call, entries: dict[Value, Value]) -> GuestDict:
    made = GuestDict(entries)
    made.span, made.stamp = call.span, call.machine.stamp
    return made


@_OPTIMIZER.method("step")
def step(call: Call) -> Value:
    """One update; a closure runs first and its value is what the step gives. LBFGS asks its closure and updates again and again."""
    optimizer, closure = call.args[0], call.get(1, "closure")
    value = None
    given = closure is not None and not isinstance(closure, Symbol)
    again = given and optimizer.cls.has_base("torch.optim.LBFGS") and optimizer.fields.get("defaults", {}).get("max_iter") != 1
    for _ in range(1 + again):
        value = call.machine.call(closure, [], {}, call.span) if given else None
        if not passed_over(optimizer):
            emit(call.machine, Kind.STEP, subject=optimizer, detail=call.machine.state.get(STEPPED_BY))
    return value


@_OPTIMIZER.method("zero_grad")
def _zero_grad(call: Call) -> Value:
    if not passed_over(call.args[0]):
        emit(call.machine, Kind.ZERO_GRAD, subject=call.args[0])


def passed_over(optimizer: Instance) -> bool:
    """Whether a step or clearing does nothing because gradients still accumulate."""
    prepared = optimizer.fields.get(PREPARED)
    return isinstance(prepared, Instance) and prepared.fields.get(SYNCHRONISES) is False


@_OPTIMIZER.method("add_param_group")
def _add_group(call: Call) -> Value:
    optimizer, group, write = call.args[0], call.get(1, "param_group"), call.machine.heap.write
    write(optimizer.fields, HELD, held_by(optimizer) | _held(call, owners_in(group)))
    write(optimizer.fields, OWNERS, tuple(dict.fromkeys((*parameters_of(optimizer), *owners_in(group)))))
    groups = optimizer.fields.get("param_groups")
    if isinstance(groups, list) and isinstance(group, dict):
        call.machine.heap.touch(groups)
        groups.append(group)


@_OPTIMIZER.method("state_dict")
def _state_dict(call: Call) -> Value:
    return captured(call, "an optimizer")


@_OPTIMIZER.method("load_state_dict")
def _load(call: Call) -> Value:
    restored(call)


@_OPTIMIZER.method("__setstate__", "register_step_post_hook", "register_step_pre_hook", "train", "eval")
def _nothing(_call: Call) -> Value:
    return None


@_OPTIMIZER.method("__getattr__")
def _other(call: Call) -> Value:
    optimizer, name = call.args
    if name == "param_groups":
        # A role: what it was given is not known, that its groups hold parameters is.
        groups = _groups(call, [{"params": Parameters(domain_of(call).autograd, ())}], {})
        optimizer.fields["param_groups"] = groups
        return groups
    return domain_of(call).casting.symbol(f"optimizer.{name}", call.span, ())


@_OPTIMIZER.method("__init_subclass__")
def _subclassed(call: Call) -> Value:
    """A guest's own optimizer: its step is an event, its clearing too."""
    cls = call.args[0]
    for name, kind in (("step", Kind.STEP), ("zero_grad", Kind.ZERO_GRAD)):
        written = cls.namespace.get(name)
        if isinstance(written, (Function, Guarded)):
            cls.namespace[name] = _own_method(name, kind, written)


def _own_method(name: str, kind: Kind, written: Value) -> HostFunction:
    return HostFunction(name, lambda call: _own(call, kind, written))


def _own(call: Call, kind: Kind, written: Value) -> Value:
    """The arithmetic of an update is not walked: it changes parameters and nothing that a trace holds. What wraps another optimizer is."""
    optimizer = call.args[0]
    if any(isinstance(held, Instance) and held.cls.has_base(OPTIMIZER) for held in optimizer.fields.values()):
        return call.machine.call(written, list(call.args), dict(call.kwargs), call.span)
    closure = call.get(1, "closure")
    value = None
    if kind is Kind.STEP and closure is not None and not isinstance(closure, Symbol):
        value = call.machine.call(closure, [], {}, call.span)
    emit(call.machine, kind, subject=optimizer)
    if kind is Kind.STEP and _clears(written):
        emit(call.machine, Kind.ZERO_GRAD, subject=optimizer)
    return value


def _clears(written: Value) -> bool:
    """Whether a step of the program's own clears the gradients that it has used."""
    function = written.function if isinstance(written, Guarded) else written
    for node in walk(function.node) if isinstance(function, Function) else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="zero_grad")) | ast.Call(func=ast.Attribute(value=ast.Attribute(attr="grad"), attr="zero_")):
                return True
            case ast.Assign(targets=[ast.Attribute(attr="grad")], value=ast.Constant(value=None)):
                return True
    return False
