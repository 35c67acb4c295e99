"""How a framework calls what the user overrides: with as many arguments as it takes, whatever version it was written for."""

from __future__ import annotations

from analysis.interpreter.values import Call, Function, Guarded, GuestList, Instance, Method, Value
from analysis.library.domain import domain_of
from analysis.library.functions import unwrapped
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import lightning.pytorch as pl
import torch

class Watch(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch):
        module.eval()

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(1, 1)

    def training_step(self, batch):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

pl.Trainer(max_epochs=2, callbacks=[Watch()]).fit(Lit(), None)
""",
            ("optimizer_built SGD", "train Lit", "forward Linear", "zero_grad SGD", "backward", "step SGD", "eval Lit", "forward Linear"),
        ),
        Example(
            """
import torch
from transformers import AutoModel, Trainer, TrainerCallback

class Watch(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if state.global_step == 2:
            model.eval()

Trainer(model=AutoModel.from_pretrained("x"), train_dataset=[1], callbacks=[Watch()]).train()
""",
            ("eval", "optimizer_built AdamW", "train", "forward", "backward", "clip", "step AdamW", "scheduler_step", "zero_grad", "forward", "eval"),
        ),
        Example(
            """
import torch
from fastai.vision.all import Callback, Learner, set_seed

class Watch(Callback):
    def after_loss(self):
        self.loss.item()

set_seed(3)
Learner(None, torch.nn.Linear(1, 1), cbs=[Watch()]).fit_one_cycle(2)
""",
            ("seed", "optimizer_built Adam", "train Linear", "forward Linear", "loss cross_entropy", "item", "backward", "step Adam", "zero_grad Adam"),
        ),
    ),
)


@SUBJECT.function("preflight_library.fitted")
def _fitted(call: Call) -> Value:
    """Call a hook with the first of the arguments, as many as it has parameters; what it asks for beyond them is not known."""
    hook, *given = call.args
    least, most = _parameters(hook)
    more = (domain_of(call).casting.symbol("an argument of a hook", call.span, ()) for _ in range(least - len(given)))
    return call.machine.call(hook, [*given[:most], *more], {}, call.span)


def _parameters(hook: Value) -> tuple[int, int | None]:
    """The fewest and the most positional arguments, without the object itself."""
    bound = 0
    function = hook
    while isinstance(function, (Method, Guarded)):
        bound += isinstance(function, Method)
        function = function.function
    function = unwrapped(function)
    if not isinstance(function, Function):
        return 0, None
    arguments = function.node.args
    named = len(arguments.posonlyargs) + len(arguments.args) - bound
    return named - len(function.defaults), None if arguments.vararg is not None else named


@SUBJECT.function("preflight_library.taken")
def _taken(call: Call) -> Value:
    """A list of what was given one by one or as a list; nothing of what is not known."""
    match call.args[0]:
        case list() | tuple() as several:
            made = GuestList(several)
        case Instance() as one:
            made = GuestList([one])
        case _:
            made = GuestList()
    made.span, made.stamp = call.span, call.machine.stamp
    return made


@SUBJECT.function("preflight_library.batches_of")
def _batches(call: Call) -> Value:
    """How many batches an epoch has for one rank."""
    return domain_of(call).rehearsal.horizon.rounds
