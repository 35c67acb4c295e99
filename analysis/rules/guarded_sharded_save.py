"""A save that needs every rank is left to one.

DeepSpeed's `engine.save_checkpoint`, Accelerate's `save_state`, `torch.distributed.checkpoint.save` and Fabric's and Lightning's `save` write or gather the
shards of all ranks: each process holds a part, and all of them have to call it. The habit that is right for `torch.save`,
`if rank == 0:`, makes rank 0 wait for the others for ever, or leaves a checkpoint that lacks all shards but one.

**How to fix it.** Call it on every rank, without the condition: the framework knows who writes what.

**What is not reported.** `torch.save`, which does want the condition; Accelerate's `save_state` behind one that lets the other ranks through
for a reason of its own (`is_main_process or sharded`), unless the program itself shards the model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Instance
from analysis.library.accelerate import ACCELERATOR, shards
from analysis.rule import Bad, Good, Rule
from analysis.rules._collectives import SAVES, by_rank, guarded, place, who
from analysis.trace import Trace
from analysis.trace.events import Event, RankGuard
from analysis.trace.reading import around, span_of, text


def check(trace: Trace) -> Iterator[Reported]:
    """Each condition on the rank that stands before such a save, once."""
    if trace.distributed:
        for event, guard in guarded(trace, by_rank):
            if event.subject in SAVES and (_needs_all(event) or guard.others is not None):
                yield _reported(trace, event, guard)


def _needs_all(event: Event) -> bool:
    """Whether every rank is known to hold a part. Else a condition that more than the rank decides may let all pass where they do."""
    return not isinstance(event.value, Instance) or event.value.cls.dotted != ACCELERATOR or shards(event.value)


def _reported(trace: Trace, event: Event, guard: RankGuard) -> Reported:
    span = place(trace, event, guard)
    known = _needs_all(event)
    effect = "it waits for the others for ever, or their shards are missing"
    if not known:
        effect = "the checkpoint lacks their random states, and where the launcher shards the model it waits for them for ever"
    finding = Finding(
        RULE.name,
        RULE.severity if known else Severity.WARNING,
        Confidence.HIGH if guard.zero is not guard.others else Confidence.MEDIUM,
        span,
        f"{who(guard)} can reach this save ({event.subject}), which every rank has to call: {effect}",
        (
            Evidence(guard.span, f"`{text(trace.snapshot, guard.span)}` has another answer on other ranks"),
            Evidence(span, "every rank would have to come here"),
        ),
    )
    proposal = _outside(trace, event, guard)
    if proposal is None:
        return Reported(replace(finding, no_fix_because="what else the condition guards has to be told apart from the save"))
    return Reported(finding, proposal)


def _outside(trace: Trace, event: Event, guard: RankGuard) -> Proposal | None:
    """The save leaves the condition: moved behind it, or, alone in it, with the condition's own part on the rank taken out."""
    stands = around(trace.snapshot, event.span)
    if guard.until or stands is None or event.path != guard.path:
        return None
    title = "Does nothing else belong to one rank? Then let every rank save"
    match stands.statements[-2:]:
        case [ast.If(test=test, body=[*before, last]) as condition, ast.Expr() as save] if last is save:
            if span_of(trace.snapshot, event.span.path, test) != guard.span:
                return None
            moved, behind = (span_of(trace.snapshot, event.span.path, node) for node in (save, condition))
            if before and moved is not None and behind is not None:
                return Proposal(title, Safety.REVIEW, (MoveStatement(moved, after=behind),))
            rest = _without_rank(trace, event, test)
            return Proposal(title, Safety.REVIEW, (ReplaceExpression(guard.span, rest),)) if rest is not None and not condition.orelse else None
        case _:
            return None


def _without_rank(trace: Trace, event: Event, test: ast.expr) -> str | None:
    """The other part of ``step % 100 == 0 and rank == 0``."""
    if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and len(test.values) == 2):  # noqa: PLR2004  two parts, one of them the rank
        return None
    words = [_speaks_of_rank(each) for each in test.values]
    if words.count(True) != 1:
        return None
    kept = span_of(trace.snapshot, event.span.path, test.values[words.index(False)])
    return ast.unparse(test.values[words.index(False)]) if kept is not None else None


def _speaks_of_rank(node: ast.expr) -> bool:
    names = (each.id if isinstance(each, ast.Name) else each.attr for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute)))
    return any("rank" in name or "main" in name or "master" in name for name in names)


_EXAMPLE = """
import deepspeed
import torch.distributed as dist

def main(net, loader, steps):
    engine, _, _, _ = deepspeed.initialize(model=net, config="ds.json")
    for step, x in enumerate(loader):
        engine.backward(engine(x).mean())
        engine.step()
        {save}
"""

_GATHERED = """
import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import fully_shard

def train(model, loader):
    dist.init_process_group("nccl")
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        if {guard}:
            state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True)){mark}
"""

RULE = Rule(
    "guarded-sharded-save",
    Severity.ERROR,
    "a save that needs every rank is left to one",
    __doc__,
    check,
    examples=(
        Bad(
            _EXAMPLE.format(save='if dist.get_rank() == 0 and step % 1000 == 0:\n            engine.save_checkpoint("out")  # flagged'),
            fixed=_EXAMPLE.format(save='if step % 1000 == 0:\n            engine.save_checkpoint("out")'),
        ),
        Bad(_GATHERED.format(guard="dist.get_rank() == 0", mark="  # flagged")),
        Good(_GATHERED.format(guard="epoch == 9", mark="")),
        Good(_EXAMPLE.format(save='if step % 1000 == 0:\n            engine.save_checkpoint("out")')),
        Good(_EXAMPLE.format(save='if dist.get_rank() == 0:\n            print(step)\n        engine.save_checkpoint("out")')),
    ),
)
