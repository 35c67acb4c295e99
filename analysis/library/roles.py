"""The roles that a symbol can turn out to play: by its annotation, or by what is done to it, never by its name alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.interpreter.binding import PASSED_AS
from analysis.interpreter.values import Instance, Symbol
from analysis.library.ownership import FROZEN, WRAPPED
from analysis.library.ranks import is_rank

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine


#: Says of a method that it was called to freeze what it belongs to.
FREEZES = "freezes"


def _nothing(_machine: Machine, _instance: Instance) -> None:
    """Most objects need no preparation."""


@dataclass(frozen=True, slots=True)
class Role:
    """``cls`` is the library class whose object plays the role.

    ``annotations``: ends of dotted names that say so. ``calls``: sets of methods of which all must have been called.
    ``without``: methods that speak against it. ``at_once``: it prepares other objects, whose roles are solved from that: where an annotation
    names it, it plays from the first run on.
    """

    cls: str
    annotations: tuple[str, ...]
    calls: tuple[frozenset[str], ...]
    without: frozenset[str] = frozenset()
    dress: Callable[[Machine, Instance], None] = _nothing
    at_once: bool = False

    @property
    def is_model(self) -> bool:
        """Whether it is a model's, or that of a wrapper around one."""
        return self.cls in {MODEL, _WRAPPED_MODEL.cls}


def _any_of(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(each.split()) for each in sets)


_SCHEDULER = Role(
    "torch.optim.lr_scheduler.LRScheduler", ("LRScheduler", "_LRScheduler", "LambdaLR"), _any_of("step get_last_lr", "step get_lr"), frozenset({"zero_grad"})
)
#: The class of a model whose source is not at hand.
MODEL = "unknown.Model"
#: In this order: an accelerator also prints, a scaler also steps.
ROLES = (
    Role("accelerate.Accelerator", ("Accelerator",), _any_of("backward prepare", "backward accumulate", "backward clip_grad_norm_"), at_once=True),
    Role(
        "lightning.fabric.Fabric",
        ("Fabric",),
        _any_of("backward setup", "backward setup_dataloaders", "backward no_backward_sync", "setup launch"),
        at_once=True,
    ),
    Role("torch.amp.GradScaler", ("GradScaler",), _any_of("scale step", "scale update", "scale unscale_", "unscale_ step")),
    Role(
        "torch.optim.Optimizer",
        ("Optimizer", "AdamW", "Adam", "SGD"),
        _any_of("zero_grad step", "step .param_groups", "zero_grad .param_groups", "zero_grad stepped"),
        frozenset({"parameters", "train"}),
    ),
    _SCHEDULER,
    Role(
        MODEL,
        ("nn.Module", "Module", "PreTrainedModel", "DistributedDataParallel", "FullyShardedDataParallel"),
        _any_of(
            "→torch.nn.Module", "parameters", "named_parameters", "train eval", "eval ()", "train ()", "state_dict eval", "state_dict train", "zero_grad ()",
            "named_modules", "requires_grad_ ()", "differentiated", "eval val_step", "eval validation_step", "eval test_step", "train train_step",
            "train training_step",
        ),
        frozenset({"step", "param_groups"}),
    ),
    Role("torch.utils.data.DataLoader", ("DataLoader",), _any_of(".dataset iterate", ".sampler iterate", ".batch_size iterate")),
    Role("torch.utils.data.DataLoader", (), _any_of("prepared iterate")),
    # What is handed over and iterated over is a loader or a list of batches if it is counted, or parts of its items go into a model or
    # to a device; what a call made is any list, and what is looked up under its items is known by their names.
    Role("torch.utils.data.DataLoader", (), _any_of("len iterate", "fed iterate", "moved iterate"), frozenset({"made", "keys"})),
)  # fmt: skip


def _wrap(machine: Machine, instance: Instance) -> None:
    """Put a model of unknown structure into the wrapper."""
    model = Instance(machine.domain.lookup(MODEL), instance.span, instance.stamp, assumed=True)
    model.fields["training"] = True
    instance.fields.update({WRAPPED: model, "training": True, "wrapper: options": {}})


_OF_WRAPPERS = """
module forward train eval training parameters named_parameters buffers named_buffers modules named_modules children named_children state_dict load_state_dict
zero_grad to cuda cpu half float bfloat16 apply requires_grad_ register_forward_hook no_sync join require_backward_grad_sync __call__ __class__
"""
#: What a wrapper has itself: it hands on no other attribute of the model inside.
_HAS = frozenset(f".{name}" for name in _OF_WRAPPERS.split())


def _is_wrapper(symbol: Symbol) -> bool:
    """Whether its ``module`` is asked for, and nothing that only the model inside would have."""
    named = {key for key in symbol.parts if isinstance(key, str) and key.startswith(".") and "(" not in key}
    return f".{WRAPPED}" in named and named <= _HAS


def _freeze(_machine: Machine, instance: Instance) -> None:
    instance.fields[FROZEN] = True


#: A model that was frozen before it was known for one.
_FROZEN_MODEL = Role(MODEL, (), (), dress=_freeze)
#: A model whose ``module`` is asked for.
_WRAPPED_MODEL = Role("torch.nn.parallel.DistributedDataParallel", (), (), dress=_wrap)
#: The process's own number among the ranks: a symbol, and no object.
RANK_ROLE = Role("", (), ())


_LOADER = "torch.utils.data.DataLoader"
#: Annotations of lists of objects: nobody knows which of their attributes are tensors.
_LISTS_OBJECTS = re.compile(r"(?:typing\.)?(?:[Ll]ist|(?:Mutable)?Sequence)\[['\"]?(?:\w+\.)*(?!Tensor\b|Any\b|Dict\b|Tuple\b|List\b)[A-Z]\w*['\"]?\]")
#: What is told of a symbol that a call gave, before anything is done to it: nothing tells a role.
_MADE = frozenset({"made"})


def role_of(symbol: Symbol, annotation: str) -> Role | None:
    """The role of ``symbol``, if its annotation or its uses tell."""
    if is_rank(symbol):
        return RANK_ROLE
    annotations = (annotation, *(use.removeprefix(PASSED_AS) for use in symbol.uses if use.startswith(PASSED_AS)))
    named = next((role for each in annotations if each and (role := named_role(each)) is not None), None)
    if named is not None:
        return _as_used(symbol, named)
    used = uses_of(symbol)
    if used <= _MADE:
        return None
    if used <= {"step", ".step"} and "step" in used and "sched" in symbol.why.lower():  # other objects step too: here name and use say the same
        return _SCHEDULER
    objects = any(_LISTS_OBJECTS.fullmatch(each) for each in annotations)
    for role in ROLES:
        if any(needed <= used for needed in role.calls) and not role.without & used and not (objects and role.cls == _LOADER):
            return _as_used(symbol, role)
    return None


def _as_used(symbol: Symbol, role: Role) -> Role:
    if role.cls != MODEL:
        return role
    return _WRAPPED_MODEL if _is_wrapper(symbol) else _FROZEN_MODEL if _was_frozen(symbol) else role


def _was_frozen(symbol: Symbol) -> bool:
    """Whether it is what a chain of methods gave of which one was ``requires_grad_(False)``: what that was called on is the same model."""
    each: object = symbol
    while isinstance(each, Symbol) and FREEZES not in each.uses:
        each = getattr(each, "callee", None) or getattr(each, "whole", None)
    return isinstance(each, Symbol)


def named_role(annotation: str) -> Role | None:
    """The role of which the annotation is the name, perhaps an optional one."""
    plain = annotation.strip("'\"").removeprefix("Optional[").removesuffix("]").removesuffix(" | None")
    return next((role for role in ROLES if _is_named(plain, role)), None)


def names_a_role(annotation: str) -> bool:
    """Whether the annotation is the name of a class that plays a role."""
    return any(_is_named(annotation, role) for role in ROLES)


def _is_named(annotation: str, role: Role) -> bool:
    return any(annotation == name or annotation.endswith(f".{name}") for name in role.annotations)


def uses_of(symbol: Symbol) -> set[str]:
    """What was done to it: "step" a method called, ".dataset" an attribute read, "()" called itself, "iterate", "len", "made" by a call, and others."""
    used = {"()" if use == "call" else use for use in symbol.uses if not use.startswith(PASSED_AS)}
    if symbol.why.endswith(")") or symbol.why.startswith("an item of "):
        used.add("made")
    for key, part in symbol.parts.items():
        if key == ".__len__()":
            used.add("len")
        elif isinstance(part, Symbol) and key.startswith(".") and "call" in part.uses:
            used.add(key[1:])
    return used
