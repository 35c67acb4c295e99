"""Gradients are averaged over ranks at the wrong micro-batches.

`DistributedDataParallel` averages gradients over the ranks in every backward whose *forward* ran outside `no_sync()`. When several micro-batches
are summed before a step, one average at the last of them is enough. Without `no_sync()` each micro-batch pays for an all-reduce of the whole
model. With it in the wrong place things go worse: around `backward` alone it has no effect; and where the last micro-batch before a step is
inside, the step takes gradients that were never averaged, and from then on the ranks train different models.

**How to fix it.** Forward and backward of all micro-batches but the last under `with model.no_sync():`, by the same condition that decides about
the step (negated): `with model.no_sync() if (i + 1) % steps else nullcontext():`.

**What is not reported.** Windows of one batch; gradients that the program reduces itself;
programs in which a framework decides (Accelerate's `accumulate`, Lightning, Fabric, DeepSpeed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.library.tensor import parameter_behind_gradient, tensors_in
from analysis.library.wrapping import Wrapped
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import gradients_of
from analysis.rules._objects import confidence_in, numbers_in
from analysis.rules._windows import Window, windows
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible


@dataclass(frozen=True, slots=True)
class _Mistake:
    severity: Severity
    event: Event
    message: str
    evidence: str
    no_fix: str


def check(trace: Trace) -> Iterator[Reported]:
    """For each optimizer the first window whose averages stand in the wrong place."""
    forwards = {event.detail.forward: event for event in trace.events(Kind.WRAPPED_FORWARD) if event.detail.how == "ddp"}
    if not trace.distributed or any(not isinstance(event.detail.averages, bool) for event in forwards.values()) or _reduces_by_hand(trace):
        return
    for gradients in gradients_of(trace):
        for window in windows(trace, gradients):
            mistake = _mistake(trace, window, forwards)
            if mistake is not None:
                yield _reported(trace, mistake, confidence_in(gradients.optimizer))
                break


def _mistake(trace: Trace, window: Window, forwards: dict[int, Event]) -> _Mistake | None:
    """What is wrong with a window that a step uses."""
    if not window.stepped or (window.unsure and not window.by_hand) or not window.backwards:
        return None
    averaged = [_averaged(event, forwards) for event in window.backwards]
    last = window.backwards[-1]
    if None in averaged:
        return None
    if averaged[-1] is False and not _is_the_last(trace, window):
        return None
    if averaged[-1] is False:
        return _Mistake(
            Severity.ERROR,
            last,
            "the step takes gradients that were not averaged over the ranks: the forward of its last micro-batch ran without synchronisation, "
            "and the ranks' weights part ways",
            "the last backward before the step: no all-reduce",
            "the condition of no_sync() has to agree with that of the step, and which of the two is meant has to be decided",
        )
    if len(window.backwards) < 2 or not window.in_one_loop() or not all(averaged):  # noqa: PLR2004  a window of one needs no no_sync
        return None
    if any(event.context.no_sync for event in window.backwards):
        return _Mistake(
            Severity.ERROR,
            next(event for event in window.backwards if event.context.no_sync),
            "no_sync() around backward alone has no effect: whether gradients are averaged is decided in the forward, which ran outside of it",
            "the gradients of each micro-batch are averaged all the same",
            "the forward has to move into the block, with whatever stands between the two",
        )
    return _Mistake(
        Severity.NOTICE,
        last,
        f"gradients are averaged over the ranks in each of the {len(window.backwards)} micro-batches of a step, although the last one is enough",
        "every backward ends in an all-reduce of all gradients",
        "all micro-batches but the last need `with model.no_sync():` around forward and backward, by the condition of the step",
    )


def _reduces_by_hand(trace: Trace) -> bool:
    """Whether ranks exchange gradients themselves."""
    given = (tensor for event in trace.events(Kind.COLLECTIVE) for tensor in tensors_in(event.value))
    return any(parameter_behind_gradient(before) is not None for tensor in given if tensor.made is not None for before in (tensor, *tensor.made.tensors))


def _is_the_last(trace: Trace, window: Window) -> bool:
    """Whether no other backward comes before the step in a full run: the loop over micro-batches was not cut short here.

    Or conditions that ask for its last round were answered as if this were it.
    """
    stamp = window.backwards[-1].context.stamp
    loop = trace.loop(stamp[-1][0]) if stamp and not window.guarded else None
    return loop is None or loop.complete or loop.near


def _averaged(event: Event, forwards: dict[int, Event]) -> bool | None:
    """Whether a backward averages gradients; None if it does not go through a wrapped model."""
    through = [forwards[number].detail for number in numbers_in([event.value]) if number in forwards]
    return any(isinstance(detail, Wrapped) and detail.averages is True for detail in through) if through else None


def _reported(trace: Trace, mistake: _Mistake, confidence: Confidence) -> Reported:
    files = trace.snapshot.contents
    span = visible(mistake.event, files)
    wrap = next(event for event in trace.events(Kind.WRAP) if event.detail == "ddp")
    forward = next(event for event in reversed(list(trace.events(Kind.WRAPPED_FORWARD))) if event.detail.forward in numbers_in([mistake.event.value]))
    at = forward.context.no_sync_at
    evidence = (
        Evidence(visible(wrap, files), "gradients of this model are averaged over the ranks"),
        *([Evidence(at, "here the wrapper is asked not to average")] if at is not None and at.path in files else []),
        Evidence(visible(forward, files), "whether they are is decided here, in the forward"),
        Evidence(span, mistake.evidence),
    )
    return Reported(Finding(RULE.name, mistake.severity, confidence, span, mistake.message, evidence, no_fix_because=mistake.no_fix))


_EXAMPLE = """
import contextlib
import torch
import torch.distributed as dist

def main(net, loader, sampler):
    dist.init_process_group("nccl")
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for i, x in enumerate(loader):
{body}
"""
_STEP = """            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()"""
_STEP_OR_SKIP = """            if (i + 1) % 4 == 0:
                if not torch.isfinite(torch.nn.utils.clip_grad_norm_(ddp.parameters(), 1.0)):
                    optimizer.zero_grad()
                    continue
                optimizer.step()
                optimizer.zero_grad()"""
_SCALED = """            if (i + 1) % 4 == 0:
                for p in net.parameters():
                    {}
"""
_UNDER = """            with ddp.no_sync() if {condition} else contextlib.nullcontext():
                (ddp(x).mean() / 4).backward(){mark}
"""

RULE = Rule(
    "accumulation-without-no-sync",
    Severity.NOTICE,
    "gradients are averaged over ranks at the wrong micro-batches",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(body="            (ddp(x).mean() / 4).backward()  # flagged\n" + _STEP)),
        Bad(_EXAMPLE.format(body=_UNDER.format(condition="i % 4 != 0", mark="  # flagged") + _STEP)),
        Bad(_EXAMPLE.format(body=_UNDER.format(condition="i % 4 != 0", mark="  # flagged") + _STEP_OR_SKIP)),
        Bad(
            _EXAMPLE.format(
                body="            loss = ddp(x).mean() / 4\n            with ddp.no_sync() if (i + 1) % 4 else contextlib.nullcontext():\n"
                "                loss.backward()  # flagged\n" + _STEP
            )
        ),
        Bad(_EXAMPLE.format(body=_UNDER.format(condition="i % 4 != 0", mark="  # flagged") + _SCALED.format("p.grad.mul_(2)") + _STEP)),
        Good(_EXAMPLE.format(body=_UNDER.format(condition="i % 4 != 0", mark="") + _SCALED.format("dist.all_reduce(p.grad)") + _STEP)),
        Good(_EXAMPLE.format(body=_UNDER.format(condition="(i + 1) % 4", mark="") + _STEP)),
        Good(_EXAMPLE.format(body="            ddp.require_backward_grad_sync = (i + 1) % 4 == 0\n            (ddp(x).mean() / 4).backward()\n" + _STEP)),
        Good(_EXAMPLE.format(body="            ddp(x).mean().backward()\n            optimizer.step()\n            optimizer.zero_grad()")),
    ),
)
