"""Calling what nobody calls: a function with arguments that nobody passes, an object of a class, a module in an imagined loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import Call, Class, External, Function, HostFunction, Instance, Module, Partial, Symbol, Value
from analysis.library.annotations import annotated
from analysis.library.decisions import turn_last
from analysis.library.functions import unwrapped
from analysis.library.handlers import ATTACH, CALLBACKS, HOOK
from analysis.library.meters import pair
from analysis.library.options import asked_for, gone_through, handed_over, missed, open_options
from analysis.library.ownership import MODULE, is_module
from analysis.library.preparing import preparations
from analysis.source import SourceFile, Span
from analysis.syntax import walk

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain

#: Ends of the names of classes whose objects a framework's trainer trains, and of those that are such a trainer.
_TRAINED, _TRAINERS = "LightningModule", ("Trainer",)
#: Methods that run one batch for whoever has the loop.
_STEPS = ("training_step", "train_step", "validation_step", "val_step", "test_step", "compute_loss")
#: How often the making of an object that ends in an exception is tried.
_TRIES = 4


def call_entry(domain: TraceDomain, source: SourceFile, qualname: str) -> Value:
    """Load the file and run its function or class ``qualname``."""
    machine = domain.machine
    module = machine.load(source.path)
    if not isinstance(module, Module) or not source.tree.body:
        return None
    owner: Value = module
    instance: Instance | None = None
    machine.span = source.span(source.tree.body[0])
    for name in qualname.split("."):
        if isinstance(owner, Class):
            instance = _object_of(domain, owner)
        owner = owner.vars.get(name) if isinstance(owner, Module) else owner.find(name) if isinstance(owner, Class) else None
    if isinstance(owner, Class):
        return _drive(domain, owner)
    if instance is not None:
        _prepare(domain, instance, qualname.rpartition(".")[2])
    return _call(domain, owner, instance)


def _prepare(domain: TraceDomain, instance: Instance, name: str) -> None:
    """Call what sets the attributes that the method ``name`` reads and the constructor left out."""
    machine, span = domain.machine, domain.machine.span
    for method in preparations(instance, name):
        try:
            machine.call(machine.getattr(instance, method, span), [], {}, span)
        except GuestRaise:
            machine.note(span, f"{method} ends in an exception: what it sets is not known")


def _call(domain: TraceDomain, function: Value, receiver: Instance | None) -> Value:
    machine = domain.machine
    span = machine.span
    inner = unwrapped(function)
    while not isinstance(inner, Function) and hasattr(inner, "function"):
        inner = unwrapped(inner.function)  # decorated: the arguments are those of what is inside
    if span is None or not isinstance(inner, Function):
        return None
    first = [receiver] if receiver is not None else []
    options = {**_switches(domain, inner), **{name: _argument(domain, inner, parameter) for name, parameter in _wanted(domain, inner).items()}}
    given = [*first, *_arguments(domain, inner, skip=len(first))]
    if domain.world.batches is not None:
        return _imagined(domain, "batch_by_batch", [Partial(function, (), options), HostFunction("given", lambda _: _anew(domain, given))])
    if _evaluates_the_next(inner):
        return _imagined(domain, "again_and_again", [Partial(function, tuple(given), options)])
    return machine.call(function, given, options, span)


def _anew(domain: TraceDomain, given: list[Value]) -> Value:
    """The arguments of the next call: another batch in the place of each that may be one."""
    stamp, batches = domain.machine.stamp, domain.world.batches or ()
    anew = (
        domain.casting.symbol(each.why, each.span, stamp, varying=each.rank_varying) if isinstance(each, Symbol) and (each.why, each.span) in batches else each
        for each in given
    )
    return tuple(anew)


def _evaluates_the_next(function: Function) -> bool:
    """Whether it takes one batch of an iterator that it is given, and does not train: whoever calls it does so once per batch."""
    parameters = {each.arg for each in (*function.node.args.posonlyargs, *function.node.args.args)}
    takes = False
    for node in walk(function.node):
        match node:
            case ast.For() | ast.While() | ast.Attribute(attr="backward" | "step" | "zero_grad"):
                return False
            case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name)]) if name in parameters:
                takes = True
    return takes


def _drive(domain: TraceDomain, cls: Class) -> Value:
    """The loop that a framework would run over an object of ``cls``."""
    machine = domain.machine
    instance, span = _object_of(domain, cls), machine.span
    if instance is None or span is None:
        return None
    names = _names(cls)
    if _TRAINED in names:
        return _imagined(domain, "fit", [instance])
    if any(name.endswith(_TRAINERS) for name in names) and isinstance(cls.find("train"), Function):
        if instance.fields.get("model") is None:
            instance.fields["model"] = _unknown_model(domain)
        if instance.fields.get("eval_dataset", ...) is None and "prediction_step" in cls.namespace:
            instance.fields["eval_dataset"] = domain.casting.symbol("data to evaluate on", span, ())
        return machine.call(machine.getattr(instance, "train", span), [], {}, span)
    forward = cls.find("forward")
    if is_module(instance) and isinstance(forward, Function):
        inputs = [domain.autograd.made("input", ()) for _ in _arguments(domain, forward, skip=1)]
        for each in inputs:
            each.attached = True  # other layers come before this one
        return _imagined(domain, "train_module", [instance, tuple(inputs)])
    if isinstance(cls.find(ATTACH), Function):
        return _imagined(domain, "attached", [instance, _unknown_model(domain)])
    if not names.isdisjoint(CALLBACKS):
        return _imagined(domain, "called_back", [instance, _unknown_model(domain)])
    if HOOK in names and not is_module(instance):
        return _imagined(domain, "hooked", [instance, _unknown_model(domain), HostFunction("told", _told), not _steps_itself(cls)])
    hooks = [cls.find(hook) for hook in _STEPS]
    for function in hooks:
        if isinstance(function, Function):
            _call(domain, function, instance)
    measures = pair([name for owner in cls.mro for name in owner.namespace])
    return None if measures is None or any(isinstance(each, Function) for each in hooks) else _measure(domain, instance, measures)


def _names(cls: Class) -> set[str]:
    """The last names of all that a class inherits from, followed or not."""
    outside = (base.dotted.rpartition(".")[2] for owner in cls.mro for base in owner.bases if isinstance(base, External))
    return {*(each.name for each in cls.mro[1:]), *outside}


def _told(call: Call) -> Value:
    """``told(hook, name, …)``: the hook's method, if it has one, with as many of the arguments as it takes."""
    hook, name, *given = call.args
    method = unwrapped(hook.cls.find(name)) if isinstance(hook, Instance) else None
    if not isinstance(method, Function):
        return None
    takes = len(method.node.args.posonlyargs) + len(method.node.args.args) - 1
    return call.machine.call(call.machine.getattr(hook, name, call.span), given[:takes], {}, call.span)


def _steps_itself(cls: Class) -> bool:
    """Whether one of its methods runs the backward: then the runner does not."""
    methods = (each for owner in cls.mro for each in owner.namespace.values() if isinstance(each, Function))
    return any(isinstance(node, ast.Attribute) and node.attr == "backward" for each in methods for node in walk(each.node))


def _measure(domain: TraceDomain, meter: Instance, names: tuple[str, str]) -> Value:
    """The number that a meter gives after some batches."""
    machine, given = domain.machine, unwrapped(meter.cls.find(names[0]))
    update, result = (machine.getattr(meter, name, machine.span) for name in names)
    batch = _arguments(domain, given, skip=1) if isinstance(given, Function) else []
    return _imagined(domain, "measure", [Partial(update, tuple(batch), {}), result])


def _unknown_model(domain: TraceDomain) -> Instance:
    model = Instance(domain.library.cls("unknown.Model"), domain.machine.span, (), assumed=True)
    model.fields["training"] = True
    return model


def _imagined(domain: TraceDomain, name: str, arguments: list[Value]) -> Value:
    machine = domain.machine
    module, span = machine.import_module("preflight_imagined", ""), machine.span
    if not isinstance(module, Module) or span is None:
        return None
    return machine.call(module.vars[name], arguments, {}, span)


def _object_of(domain: TraceDomain, cls: Class) -> Instance | None:
    """An object of ``cls`` made with arguments that nobody passes."""
    machine, span = domain.machine, cls.span
    if span is None:
        return None
    machine.span = span
    init = cls.find("__init__")
    args = _arguments(domain, init, skip=1) if isinstance(init, Function) else []
    options: dict[str, Value] = {}
    if isinstance(init, Function):
        asked = {**_wanted(domain, init), **(gone_through(init) if cls.has_base(MODULE) else {})}
        if domain.world.flags and (cls.has_base(MODULE) or HOOK in _names(cls)):
            asked |= asked_for(cls, init)
        options = {name: _argument(domain, init, parameter) for name, parameter in asked.items()}
        options.update(_switches(domain, init) if cls.has_base(MODULE) else {})
    made = _constructed(domain, cls, args, options, span)
    if not isinstance(made, Instance):
        return None
    open_options(domain, made)
    return made


def _constructed(domain: TraceDomain, cls: Class, args: list[Value], options: dict[str, Value], span: Span) -> Value:
    """An object of ``cls``; where its constructor ends in an exception, the flag that was asked for last before is turned round, a few times."""
    machine = domain.machine
    for _ in range(_TRIES):
        here, before = machine.tree.stack[-1].children, len(machine.tree.stack[-1].children)
        try:
            return machine.construct(cls, [*args], {**options}, span)
        except GuestRaise:
            if not turn_last(domain):
                break
            del here[before:]
    return machine.instance(cls, span)


def _arguments(domain: TraceDomain, function: Function, skip: int) -> list[Value]:
    """A castable symbol for each parameter without a default, noted with its annotation."""
    arguments = function.node.args
    parameters = [*arguments.posonlyargs, *arguments.args]
    wanted = parameters[skip : max(skip, len(parameters) - len(function.defaults))]
    return [_argument(domain, function, parameter) for parameter in wanted]


def _wanted(domain: TraceDomain, function: Function) -> dict[str, ast.arg]:
    """What is absent by default and is passed all the same."""
    return {**missed(function), **(handed_over(function) if domain.world.flags else {})}


def _argument(domain: TraceDomain, function: Function, parameter: ast.arg) -> Value:
    return annotated(domain, function, parameter)


def _switches(domain: TraceDomain, function: Function) -> dict[str, Value]:
    """A flag for each option that is off by default: whoever makes the object, or calls the function, may turn it on."""
    arguments = function.node.args
    defaults = dict(zip((each.arg for each in reversed([*arguments.posonlyargs, *arguments.args])), reversed(function.defaults), strict=False))
    return {name: domain.casting.symbol(name, domain.machine.span, ()) for name, value in {**defaults, **function.kw_defaults}.items() if value is False}
