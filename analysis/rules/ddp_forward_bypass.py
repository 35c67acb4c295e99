"""A training forward goes past the wrapper.

`DistributedDataParallel` prepares the averaging of gradients in its own `forward`. A loss that is computed with `ddp.module(x)`, or with the
model that was wrapped, has gradients of this rank alone: every rank takes its own step, and the copies of the model part ways without a word.
An earlier forward through the wrapper does not help: it prepared another backward. One in the same graph does.

**How to fix it.** Call the wrapper: `ddp(x)`. Where another method of the model is wanted, let its `forward` call it.

**What is not reported.** Forwards without gradients (evaluation, averaged copies); models whose gradients are cleared before their optimizer steps;
programs that average the gradients by hand; frameworks that bring the optimizer, and wrap the model that they are given themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Instance
from analysis.library.optimizers import parameters_of
from analysis.library.parts import OF_A_PART
from analysis.library.tensor import Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._gradient_uses import GradientUses
from analysis.rules._objects import Nesting, confidence_in, forward_numbers, inner, numbers_in
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, visible
from analysis.trace.reading import call_at, dotted, span_of


def check(trace: Trace) -> Iterator[Reported]:
    """Forwards of a wrapped model past its wrapper whose graph a backward goes through."""
    if not trace.distributed or _averages_by_hand(trace):
        return
    backwards = [(event, numbers_in([event.value])) for event in trace.events(Kind.BACKWARD)]
    wrapped = list(trace.events(Kind.WRAPPED_FORWARD))
    wraps: list[Event] = []
    told: set[Span] = set()
    nesting = Nesting()
    for event in trace.events(Kind.WRAP, Kind.FORWARD):
        if event.kind is Kind.WRAP:
            wraps.append(event)
            continue
        own = forward_numbers(event)
        if not any(own & graph for _, graph in backwards):
            continue
        wrap = next((each for each in wraps if each.detail == "ddp" and nesting.is_inside(event.subject, each.subject)), None)
        through = {each.detail.forward for each in wrapped if nesting.is_inside(event.subject, each.subject)}
        past = [backward for backward, graph in backwards if own & graph and not graph & through]
        if own & through or _is_of_a_part(event) or not past:
            continue
        if wrap is not None and _steps(trace, wrap) and _is_taught(trace, event, past):
            span = _outside(trace, event, wrap)
            if span not in told:
                told.add(span)
                yield _reported(trace, event, wrap, span)
        elif wrap is None and event.span not in told and _passes_by(trace, event):
            told.add(event.span)
            yield _reported_passing(event)


def _is_of_a_part(event: Event) -> bool:
    """Whether a method of some part of a model of unknown structure was called, which need not have parameters."""
    return any(each.made is not None and OF_A_PART in each.made.options for each in tensors_in(event.value))


def _is_taught(trace: Trace, event: Event, backwards: list[Event]) -> bool:
    """Whether an optimizer may step on what these backwards give the model: a judge that a generator is trained through is cleared before its own step."""
    uses = GradientUses(trace)
    owners = [event.subject] if isinstance(event.subject, Instance) else []
    return any(uses.unsure(each) or uses.steps_on(each, owners) for each in backwards)


def _passes_by(trace: Trace, event: Event) -> bool:
    """Whether the ``module`` of a wrapper is called that the program was passed: who wrapped it is not told."""
    model = event.subject
    if not isinstance(model, Instance) or not model.assumed or not any(_trains(model, step.subject) for step in trace.events(Kind.STEP)):
        return False
    match call_at(trace.snapshot, event.span):
        case ast.Call(func=ast.Attribute(attr="module") | ast.Attribute(value=ast.Attribute(attr="module"), attr="forward")):
            return True
    return False


def _trains(model: Instance, optimizer: object) -> bool:
    return isinstance(optimizer, Instance) and any(inner(owner) is inner(model) for owner in parameters_of(optimizer))


def _outside(trace: Trace, event: Event, wrap: Event) -> Span:
    """Where the code around the model calls it: what its own methods call of its parts happens on behalf of that."""
    files = trace.snapshot.contents
    own = [cls.span for module in (wrap.subject, event.subject) if isinstance(module, Instance) for cls in module.cls.mro if cls.span is not None]
    around = (span for span in reversed(frames(event)) if span.path in files and not any(_holds(cls, span) for cls in own))
    return next(around, visible(event, files))


def _holds(cls: Span, span: Span) -> bool:
    return cls.path == span.path and cls.start <= span.start and span.end <= cls.end


def _averages_by_hand(trace: Trace) -> bool:
    """Whether gradients themselves are reduced over the ranks."""
    for event in trace.events(Kind.COLLECTIVE):
        if isinstance(event.value, Tensor) and any(each.made is not None and each.made.op == "grad" for each in ancestors(event.value)):
            return True
    return False


def _steps(trace: Trace, wrap: Event) -> bool:
    """Whether anything in the program updates parameters at all. A framework that brings the optimizer wraps the model that it is given itself."""
    return isinstance(wrap.subject, Instance) and any(not _brought(trace, event.subject) for event in trace.events(Kind.STEP))


def _brought(trace: Trace, optimizer: object) -> bool:
    return isinstance(optimizer, Instance) and optimizer.span is not None and optimizer.span.path not in trace.snapshot.contents


def _reported(trace: Trace, event: Event, wrap: Event, span: Span) -> Reported:
    files = trace.snapshot.contents
    direct = inner(event.subject) is inner(wrap.subject)
    finding = Finding(
        RULE.name,
        RULE.severity,
        min(confidence_in(wrap.subject), Confidence.HIGH if direct else Confidence.MEDIUM),
        span,
        "this forward goes past DistributedDataParallel: the gradients of its loss are not averaged, and the ranks' weights part ways",
        (
            Evidence(visible(wrap, files), "the model is wrapped here; only the wrapper's own forward prepares the average"),
            Evidence(span, "the model inside is called, and a backward goes through it"),
        ),
    )
    call = call_at(trace.snapshot, span)
    if direct and call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "module" and (wrapper := dotted(call.func.value)):
        at = span_of(trace.snapshot, span.path, call.func)
        if at is not None:
            return Reported(finding, Proposal("Is this the forward that trains? Then call the wrapper", Safety.REVIEW, (ReplaceExpression(at, wrapper),)))
    return Reported(replace(finding, no_fix_because="what is called has to go through the wrapper's forward, which takes a change of the model"))


def _reported_passing(event: Event) -> Reported:
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        event.span,
        "this forward goes past the wrapper: if it is DistributedDataParallel, the gradients of its loss are not averaged, and the ranks' weights part ways",
        (Evidence(event.span, "the model inside is called, and a backward goes through it"),),
        no_fix_because="what wraps the model is not told here: call the wrapper where the loss is trained",
    )
    return Reported(finding)


_METHOD = """
import torch
import torch.distributed as dist

class Coder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)

    def encode(self, x):
        return self.into(x)

    def forward(self, x):
        return self.out(self.encode(x))

dist.init_process_group("nccl")
ddp = torch.nn.parallel.DistributedDataParallel(Coder())
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    loss = ddp.module.encode(x).mean()  # flagged
    loss.backward()
    optimizer.step()
"""

_EXAMPLE = """
import torch
import torch.distributed as dist

def main(net, loader, sampler):
    dist.init_process_group("nccl")
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            loss = {forward}
            loss.backward()
            optimizer.step()
        ddp.eval()
        with torch.no_grad():
            print(ddp.module(x).mean())
        ddp.train()
"""

RULE = Rule(
    "ddp-forward-bypass",
    Severity.ERROR,
    "a training forward goes past the wrapper",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(forward="ddp.module(x).mean()  # flagged"), fixed=_EXAMPLE.format(forward="ddp(x).mean()")),
        Bad(_METHOD),
        Good(_EXAMPLE.format(forward="ddp(x).mean()")),
        Good(
            _EXAMPLE.format(forward="ddp.module(x).mean()").replace(
                "            optimizer.step()", "            for p in net.parameters():\n                dist.all_reduce(p.grad)\n            optimizer.step()"
            )
        ),
    ),
)
