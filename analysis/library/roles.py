"""The roles that a symbol can turn out to play: by its annotation, or by what is done to it, never by its name alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.interpreter.values import Instance, Symbol
from analysis.library.ranks import is_rank

if TYPE_CHECKING:
    from analysis.interpreter.machine import Machine


def _nothing(_machine: Machine, _instance: Instance) -> None:
    """Most objects need no preparation."""


@dataclass(frozen=True, slots=True)
class Role:
    """``cls`` is the library class whose object plays the role.

    ``annotations``: ends of dotted names that say so. ``calls``: sets of methods of which all must have been called.
    ``without``: methods that speak against it.
    """

    cls: str
    annotations: tuple[str, ...]
    calls: tuple[frozenset[str], ...]
    without: frozenset[str] = frozenset()
    dress: Callable[[Machine, Instance], None] = _nothing


def _any_of(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(each.split()) for each in sets)


_SCHEDULER = Role(
    "torch.optim.lr_scheduler.LRScheduler", ("LRScheduler", "_LRScheduler", "LambdaLR"), _any_of("step get_last_lr", "step get_lr"), frozenset({"zero_grad"})
)
#: The class of a model whose source is not at hand.
MODEL = "unknown.Model"
#: In this order: an accelerator also prints, a scaler also steps.
ROLES = (
    Role("accelerate.Accelerator", ("Accelerator",), _any_of("backward prepare", "backward accumulate", "backward clip_grad_norm_")),
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
    # What is handed over and iterated over is a loader or a list of batches if it is counted, or parts of its items go into a model or
    # to a device, or an accelerator prepares it; what a call made is any list.
    Role("torch.utils.data.DataLoader", (), _any_of("len iterate", "fed iterate", "moved iterate", "prepared iterate"), frozenset({"made"})),
)  # fmt: skip


#: The process's own number among the ranks: a symbol, and no object.
RANK_ROLE = Role("", (), ())


def role_of(symbol: Symbol, annotation: str) -> Role | None:
    """The role of ``symbol``, if its annotation or its uses tell."""
    if is_rank(symbol):
        return RANK_ROLE
    plain = annotation.strip("'\"").removeprefix("Optional[").removesuffix("]").removesuffix(" | None")
    for role in ROLES:
        if plain and _is_named(plain, role):
            return role
    used = uses_of(symbol)
    if used <= {"step", ".step"} and "step" in used and "sched" in symbol.why.lower():  # other objects step too: here name and use say the same
        return _SCHEDULER
    for role in ROLES:
        if any(needed <= used for needed in role.calls) and not role.without & used:
            return role
    return None


def names_a_role(annotation: str) -> bool:
    """Whether the annotation is the name of a class that plays a role."""
    return any(_is_named(annotation, role) for role in ROLES)


def _is_named(annotation: str, role: Role) -> bool:
    return any(annotation == name or annotation.endswith(f".{name}") for name in role.annotations)


def uses_of(symbol: Symbol) -> set[str]:
    """What was done to it: "step" a method called, ".dataset" an attribute read, "()" called itself, "iterate", "len", "made" by a call, and others."""
    used = {"()" if use == "call" else use for use in symbol.uses}
    if symbol.why.endswith(")") or symbol.why.startswith("an item of "):
        used.add("made")
    for key, part in symbol.parts.items():
        if key == ".__len__()":
            used.add("len")
        elif isinstance(part, Symbol) and key.startswith(".") and "call" in part.uses:
            used.add(key[1:])
    return used
