"""Parts of a model whose structure is not told: ``model.encoder``, ``model.generate(...)``, ``model.config.hidden_size``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from analysis.interpreter.values import Alternatives, Call, Instance, Symbol, Value
from analysis.library.autograd import CUTTING
from analysis.library.ownership import owner_of
from analysis.library.recording import emit, modes, set_modes
from analysis.library.tensor import Parameters, Tensor
from analysis.source import Span
from analysis.trace.events import Kind

if TYPE_CHECKING:
    from analysis.library.domain import TraceDomain

_MODULE_METHODS = """
parameters named_parameters train eval to cuda cpu half float bfloat16 requires_grad_ zero_grad state_dict load_state_dict children modules named_modules apply
register_forward_hook
"""
#: Methods of ``nn.Module`` that, called on a part, concern the model's parameters or mode in part only.
_OF_MODULES = frozenset(_MODULE_METHODS.split())
#: Methods that tell the host something about a tensor.
_ABOUT_TENSORS = frozenset({"size", "dim", "numel", "nelement", "element_size", "stride", "item", "tolist", "numpy"})
#: Parts that hold numbers and names.
_CONFIGURATION = frozenset({"config", "cfg", "hparams", "args", "generation_config", "tokenizer", "processor", "device", "dtype"})
#: Among the options of what a module with parameters gave: gradients were switched off.
WITHOUT_GRAD = "module: without grad"
#: Among the options of what a method of a part gave (``model.scaler.scale(x)``): whether the part has parameters is not told.
OF_A_PART = "module: of a part"
#: Methods that list what a part holds.
_LISTING = frozenset({"items", "keys", "values", "named_children"})
_SETTERS = """
save load push init reset set_ get_ enable disable print resize gradient_checkpointing num_ add_ register configure prepare update to_ log compile tie_ merge
freeze unfreeze clear setup build remove close wait flush start stop loader dataloader
"""
#: Beginnings of method names that set a model up or save it: they run no forward.
_NO_FORWARD = tuple(_SETTERS.split())


#: Methods that give the model back, without its adapters or with them merged.
_SAME_MODEL = frozenset({"unload", "merge_and_unload", "get_base_model"})
#: Methods that libraries run without gradients themselves.
_WITHOUT_GRAD = frozenset({"generate"})


class ModelPart(Symbol):
    """``owner.name``: a submodule, a method, a number, whatever the use makes of it."""

    __slots__ = ("name", "owner", "within")

    def __init__(self, owner: Instance, name: str, span: Span, within: ModelPart | None = None) -> None:
        super().__init__(f"{within.why if within else 'the model'}.{name}", span)
        self.owner = owner
        self.name = name
        self.within = within

    def part(self, key: str, why: str | None = None, stamp: tuple[tuple[int, int], ...] | None = None) -> Value:
        """A part of the part."""
        if key not in self.parts:
            where = self.span
            if where is None:
                raise ValueError("a part of a model was read outside any code")
            self.parts[key] = ModelPart(self.owner, key.removeprefix("."), where, self)
        return self.parts[key]


def call_part(domain: TraceDomain, part: ModelPart, call: Call) -> Value:
    """``model.name(...)`` or ``model.encoder.name(...)``."""
    if part.within is not None and part.name in _OF_MODULES:
        return _module_method(domain, part, call)
    if part.within is not None and part.name in _LISTING:
        return _listed(domain, part, call)
    given = (*call.args, *call.kwargs.values())
    if part.name.startswith(_NO_FORWARD) or not given or _takes_no_data(part, given):
        return _setting(domain, part, call)
    held = modes(call.machine)
    set_modes(call.machine, replace(held, grad=held.grad and part.name not in _WITHOUT_GRAD))
    with forwarding(domain, part.owner) as outermost:
        result = run_unknown(domain, part.owner, call, part.name, {} if part.within is None else {OF_A_PART: True})
    if outermost:
        emit(call.machine, Kind.FORWARD, subject=owner_of(part.owner), value=result, detail=given)
    set_modes(call.machine, held)
    return result


def _takes_no_data(part: ModelPart, given: tuple[Value, ...]) -> bool:
    """Whether a call on the part surely is no forward: it asks for a size, concerns the configuration, or is given nothing but names and numbers."""
    if part.name in _ABOUT_TENSORS or (given and all(isinstance(each, (str, bytes, int, float, type(None))) for each in given)):
        return True
    whole = part.within
    while whole is not None:
        if whole.name in _CONFIGURATION:
            return True
        whole = whole.within
    return False


def copied_part(call: Call, part: ModelPart, copy: Value | None) -> Value:
    """A copy of ``part``: the same part of a copied model, or a model of its own where it is the part that was copied."""
    if isinstance(copy, Instance):
        return ModelPart(copy, part.name, call.span)
    if part.name in _CONFIGURATION or part.name.endswith(")"):
        return part
    module = Instance(call.machine.domain.lookup("unknown.Model"), call.span, call.machine.stamp, assumed=part.owner.assumed)
    module.fields["training"] = part.owner.fields.get("training", True)
    return module


def _listed(domain: TraceDomain, part: ModelPart, call: Call) -> Value:
    """The submodules of a part, with their names where the method gives them: one stands for all."""
    child = ModelPart(part.owner, "child", call.span, part.within)
    name = domain.casting.symbol("the name of a module", call.span, call.machine.stamp or ((0, 0),))
    return [name] if part.name == "keys" else [(name, child)] if part.name in {"items", "named_children"} else [child]


def _setting(domain: TraceDomain, part: ModelPart, call: Call) -> Value:
    """A method that runs no forward: what it gives is a tensor of the model if it is used as one."""
    if part.within is None and part.name in _SAME_MODEL:
        return part.owner
    if not domain.ownership.atoms(part.owner, trainable=False):
        return domain.casting.symbol(f"{part.why}()", call.span, call.machine.stamp)
    return ModelPart(part.owner, f"{part.name}()", call.span, part.within)


def _module_method(domain: TraceDomain, part: ModelPart, call: Call) -> Value:
    """A method of ``nn.Module`` on a submodule whose class is not told."""
    submodule = part.within
    match part.name:
        case "parameters" | "named_parameters":
            return Parameters(domain.autograd, (part.owner,), named=part.name == "named_parameters", partial=True)
        case "children" | "modules":
            return [submodule]
        case "named_modules":
            return [("", submodule)]
        case "zero_grad":
            emit(call.machine, Kind.ZERO_GRAD, subject=owner_of(part.owner))
            return None
        case "requires_grad_":  # of the whole it is open now whether it trains
            domain.ownership.freeze(part.owner, Alternatives((True, False)))
        case "state_dict" | "load_state_dict":
            return domain.casting.symbol(part.why, call.span, call.machine.stamp)
        case "register_forward_hook":  # a part runs when the whole does, and what it gives carries the same graph
            return call.machine.call(call.machine.getattr(part.owner, part.name, call.span), [*call.args], dict(call.kwargs), call.span)
    return submodule


def run_unknown(domain: TraceDomain, module: Instance, call: Call, op: str, more: Mapping[str, Value] = MappingProxyType({})) -> Tensor:
    """The output of a forward that cannot be walked: it carries a graph if the model trains or an input does."""
    options = {**call.kwargs, **more, "module": module}
    if not modes(domain.machine).grad and domain.ownership.atoms(module):
        options[WITHOUT_GRAD] = True
    return _attached(domain, module, domain.autograd.made(op, tuple(call.args), options))


def _attached(domain: TraceDomain, module: Instance, result: Tensor) -> Tensor:
    """``result``, just made by the forward of ``module``: it carries a graph if the module has trainable parameters."""
    held = modes(domain.machine)
    if held.grad and domain.ownership.atoms(module):
        result.attached = True
        result.owners |= {owner_of(module)}
        result.forwards |= {held.forward}
    return result


def with_graph(domain: TraceDomain, module: Instance, output: Value) -> Value:
    """The output of a walked forward whose parameters were not seen: every tensor in it that lost its graph on the way has one again."""
    match output:
        case Tensor() if not output.attached and (output.made is None or output.made.op not in CUTTING):
            return _attached(domain, module, domain.autograd.made("forward", (output,), {"module": module}))
        case Symbol():
            return _attached(domain, module, domain.autograd.made("forward", (), {"module": module}))
        case tuple():
            return tuple(with_graph(domain, module, each) for each in output)
    return output


@contextmanager
def forwarding(domain: TraceDomain, module: Instance) -> Iterator[bool]:
    """A forward of ``module`` runs; whether it is the outermost one, which alone is an event."""
    machine = domain.machine
    held = modes(machine)
    if held.forwarding is not None:
        yield False
        return
    set_modes(machine, replace(held, forwarding=module, forward=domain.autograd.next_forward(), forward_stamp=machine.stamp))
    try:
        yield True
    finally:
        set_modes(machine, held)
