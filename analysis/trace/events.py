"""The leaves of a trace: what happens to models, optimizers, losses, loaders and ranks.

Objects are guest ``Instance``s and ``Tensor``s, compared by identity. Each event has its span, the call path that led
there (spans of the calls, outermost first) and the context it ran in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from analysis.source import Span


@dataclass(frozen=True, slots=True)
class RankGuard:
    """An open condition that ranks answer differently.

    ``zero`` and ``others``: whether rank 0 and the other ranks get past it (None: it depends on more than the rank).
    ``until``: "" inside an arm; "continue", "break" or "return" where another arm left in that way, and what follows is reached by the rest.
    ``path``: the calls that led to the condition.
    """

    span: Span
    condition: Any
    zero: bool | None
    others: bool | None
    until: str
    path: tuple[Span, ...]
    exit: Span | None = None  # where the others left


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds an event."""

    grad: bool = True
    inference: bool = False
    autocast: bool = False
    no_sync: bool = False
    no_sync_at: Span | None = None  # where a wrapper was asked not to average
    joined: bool = False  # ranks that are done early answer the collectives of the others
    rank_guards: tuple[RankGuard, ...] = ()  # conditions that let only some ranks through, outermost first
    stamp: tuple[tuple[int, int], ...] = ()
    function: str = ""  # qualified name of the guest function that runs

    @property
    def rank_guard(self) -> Span | None:
        """The innermost condition that lets only some ranks through."""
        return self.rank_guards[-1].span if self.rank_guards else None


class Kind(Enum):
    """What happened."""

    __hash__ = object.__hash__  # there is one of each: no need to go by the name

    FORWARD = "forward"  # subject: module; value: output; detail: inputs
    WRAPPED_FORWARD = "wrapped_forward"  # subject: the model inside; value: the wrapper; detail: a Wrapped
    LOSS = "loss"  # subject: loss function or module (name); value: output; detail: (input, target, options)
    BACKWARD = "backward"  # value: the tensor; subject: who ran it (None, scaler, accelerator, engine); detail: options
    GRADIENT_CALL = "autograd.grad"  # gradients returned, none accumulated
    DISCARD = "discard"  # value: the tensor that a statement made and dropped; or subject: the table whose method (detail) gave a new one
    STEP = "step"  # subject: optimizer; detail: who ran it
    ZERO_GRAD = "zero_grad"  # subject: optimizer or module whose gradients are cleared
    GRADIENT_USE = "gradient_use"  # subject: whose gradient is read or scaled by hand; value: the gradient; detail: the operation
    CLIP = "clip"  # subject: what owns the parameters
    UNSCALE = "unscale"  # subject: scaler; value: optimizer
    SCALER_UPDATE = "update"  # subject: scaler
    SCHEDULER_STEP = "scheduler_step"  # subject: scheduler
    TRAIN_MODE = "train"  # subject: module
    EVAL_MODE = "eval"  # subject: module
    ITEM = "item"  # value: tensor read by the host (None: it waits for the whole device)
    MEASURE = "measure"  # value: what a metric takes in
    STORE = "store"  # subject: holder (container, instance, module globals); value; detail: key
    CLEAR = "clear"  # subject: container emptied or name rebound
    TO_DEVICE = "to_device"  # subject: module or tensor; detail: device
    MODEL_BUILT = "model_built"
    OPTIMIZER_BUILT = "optimizer_built"  # subject: optimizer; detail: parameters it was given
    LOADER_BUILT = "loader_built"  # subject: loader; detail: dataset, sampler, shuffle …
    SAMPLER_BUILT = "sampler_built"  # subject: a sampler that divides the data between ranks; value: the data set
    ITERATE = "iterate"  # subject: loader; value: batch; one per epoch begins
    SET_EPOCH = "set_epoch"
    WRAP = "wrap"  # subject: wrapped model; value: the wrapper; detail: "ddp", "fsdp", …
    INIT_DISTRIBUTED = "init_distributed"
    COLLECTIVE = "collective"
    SAVE = "save"
    LOG = "log"
    PRINT = "print"  # value: what is printed, of which something differs between ranks
    SEED = "seed"  # value: the seed
    DRAW = "draw"  # subject: the generator on the host (None: the global one); detail: the function, the data set that is being read
    HOST_WORK = "host_work"  # subject: the data set that is being read; detail: the function that decodes, reads or transforms
    CAPTURE = "capture"  # subject: optimizer, scheduler or scaler; value: its state
    RESTORE = "restore"  # subject: optimizer, scheduler or scaler that takes over a saved state
    DROPOUT = "dropout"  # subject: module whose forward drops values without asking for its mode; detail: rate, mode
    OPAQUE = "opaque"  # subject: tuple of every object that the call may have changed


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One thing that happened."""

    kind: Kind
    span: Span
    path: tuple[Span, ...]  # the calls that led here, outermost first
    context: Context
    subject: Any = None
    value: Any = None
    detail: Any = None
