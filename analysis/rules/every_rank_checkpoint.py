"""Every rank writes the same checkpoint.

Without a condition on the rank each process writes the file, all at the same moment and to the same path: what is left may be a mixture of two
writes that cannot be read, and is found out when the run has to be resumed. On a shared file system it also costs as many times the traffic.

**How to fix it.** Let rank 0 write: `if dist.get_rank() == 0: torch.save(…)`, with a barrier behind it if others read the file next.

**What is not reported.** Paths that differ between ranks; values that do; saves that every rank has to take part in (FSDP, DeepSpeed,
`torch.distributed.checkpoint`, `accelerator.save_state`) or that a framework writes on rank 0 by itself; files that hold no model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import AddImport, Proposal, Reported, WrapInBlock
from analysis.interpreter.values import Instance, Value
from analysis.library.ownership import is_module
from analysis.library.tensor import Parameter, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import inner
from analysis.rules._ranks import depends_on_rank
from analysis.rules._statements import is_alone
from analysis.rules._worlds import on_every_rank, several_ranks, where_it_shows
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import calls_to, visible
from analysis.trace.reading import call_at, statement_of

_DEPTH = 4
_COPYING = frozenset({"cpu", "to", "detach", "clone", "contiguous", "half", "float", "bfloat16"})
_CONDITION = "if not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0:"


def check(trace: Trace) -> Iterator[Reported]:
    """Each save of a model that no condition on the rank guards."""
    if not several_ranks(trace):
        return
    told: set[Span] = set()
    for event in trace.events(Kind.SAVE):
        if event.detail in {"main process", "framework"} or event.span in told or not on_every_rank(trace, event) or _is_sharded(trace, event):
            continue
        if _holds_a_model(event.value) and not depends_on_rank(trace.snapshot, event.detail) and not _differs(event.value):
            told.add(event.span)
            yield _reported(trace, event)


def _is_sharded(trace: Trace, event: Event) -> bool:
    """Whether a model that an accelerator has prepared saves itself: only a sharded one can, with all ranks; a DDP wrapper has no such method."""
    prepared = [inner(wrap.subject) for wrap in trace.events(Kind.WRAP) if wrap.detail == "accelerate"]
    call = call_at(trace.snapshot, event.span)
    itself = call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "save_pretrained" and isinstance(event.value, Instance)
    return itself and any(inner(event.value) is model for model in prepared)


def _holds_a_model(value: Value) -> bool:
    """Whether a model or what its state dict gives is in there."""
    if any(_is_weights(tensor) for tensor in tensors_in(value, _DEPTH)):
        return True
    held = list(value.values()) if isinstance(value, dict) else [value]
    return any(isinstance(each, Instance) and is_module(each) for each in held)


def _is_weights(tensor: Tensor) -> bool:
    """Whether it holds what a parameter does, perhaps in another place or precision."""
    for _ in range(_DEPTH):
        made = tensor.made
        if made is None or (made.op != "data" and made.op not in _COPYING) or not isinstance(made.inputs[0], Tensor):
            return False
        tensor = made.inputs[0]
        if made.op == "data" and isinstance(tensor, Parameter):
            return True
    return False


def _differs(value: Value) -> bool:
    held = list(value.values()) if isinstance(value, dict) else [value]
    return any(getattr(each, "rank_varying", False) is True for each in held)


def _reported(trace: Trace, event: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(event, files)
    calls = tuple(Evidence(call, "each of them calls this") for call in calls_to(event, files))
    start = where_it_shows(trace)
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM if trace.undecided(event) else Confidence.HIGH,
        span,
        "every rank writes this checkpoint, to the same path at the same time: no condition on the rank stands before it",
        (Evidence(visible(start, files), "the program runs on several ranks"), *calls, Evidence(span, "each of them comes here")),
    )
    statement = statement_of(trace.snapshot, span)
    if statement is None or event.span != span or not is_alone(trace.snapshot, span) or any(wrap.detail == "fsdp" for wrap in trace.events(Kind.WRAP)):
        return Reported(replace(finding, no_fix_because="what all ranks have to do before the file is written has to stay outside of the condition"))
    changes = (WrapInBlock(statement, statement, _CONDITION), AddImport(span.path, "torch.distributed"))
    return Reported(finding, Proposal("Is it enough that rank 0 writes? Then let the others pass", Safety.REVIEW, changes))


_EXAMPLE = """
import torch
import torch.distributed{imports}

def main(net, loader, sampler):
    torch.distributed.init_process_group("nccl")
    rank = torch.distributed.get_rank()
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            ddp(x).mean().backward()
            optimizer.step()
        {save}
"""

_LIT = """
import lightning.pytorch as pl
import torch
{imports}
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x), y)

    def on_train_epoch_end(self):
        {guard}torch.save(self.net.state_dict(), "net.pt"){mark}

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

pl.Trainer(devices=4, strategy="ddp").fit(Net(), None)
"""

RULE = Rule(
    "every-rank-checkpoint",
    Severity.WARNING,
    "every rank writes the same checkpoint",
    __doc__,
    check,
    examples=(
        Bad(
            _EXAMPLE.format(imports="", save='torch.save(net.state_dict(), "net.pt")  # flagged'),
            fixed=_EXAMPLE.format(imports="", save=f'{_CONDITION}\n            torch.save(net.state_dict(), "net.pt")'),
        ),
        Bad(
            _LIT.format(imports="", guard="", mark="  # flagged"),
            fixed=_LIT.format(imports="import torch.distributed\n", guard=f"{_CONDITION}\n            ", mark=""),
        ),
        Good(_LIT.format(imports="", guard="if self.trainer.is_global_zero:\n            ", mark="")),
        Good(_EXAMPLE.format(imports="", save='if rank == 0:\n            torch.save(net.state_dict(), "net.pt")')),
        Good(_EXAMPLE.format(imports="", save='torch.save(net.state_dict(), f"net-{rank}.pt")')),
        Good(_EXAMPLE.format(imports="", save='if rank != 0:\n            continue\n        torch.save(net.state_dict(), "net.pt")')),
    ),
)
