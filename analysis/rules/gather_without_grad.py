"""A loss is computed over gathered tensors that carry no gradient.

`dist.all_gather` and its like fill tensors that autograd does not know: what comes out has no graph, not even the part that came from this rank.
A contrastive loss over nothing else trains nothing, or only what reaches it on another way (a temperature, say), and no error is raised.

**How to fix it.** Put this rank's own tensor back in its place, `parts[dist.get_rank()] = x`, or gather with
`torch.distributed.nn.functional.all_gather`, which has a backward.

`dist.all_reduce(x)` adds in place, behind autograd's back. Where the loss is not linear in the sum (its square, say, or a correlation), every
rank's gradient lacks what the other ranks' losses owe to its own part: it is off by the number of ranks.

**How to fix it there.** `x = torch.distributed.nn.functional.all_reduce(x)`, which has a backward.

**What is not reported.** A loss that also uses the local tensor itself; gathering under `no_grad` (keys of a queue, metrics); gathers
that have a backward; sums of counts that a loss is divided by, and of losses themselves; collectives in a group of some ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertAfter, Proposal, Reported
from analysis.interpreter.values import Symbol
from analysis.library.tensor import Made, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._collectives import in_whole_group
from analysis.rules._sources import CUTS, all_in, attached_in
from analysis.rules._statements import is_alone
from analysis.rules._untold_graphs import is_part_of_unknown
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible, within
from analysis.trace.reading import call_at, dotted, span_of, statement_of, text

_GATHERS = frozenset({"all_gather", "gather", "all_gather_into_tensor", "_all_gather_base"})
_QUOTIENTS = frozenset({"truediv", "div", "div_", "floordiv"})
#: Operations whose derivative does not depend on what goes in.
_LINEAR_NAMES = """
add sub add_ sub_ neg scale sum mean view reshape flatten squeeze unsqueeze getitem attribute stack cat to float half double clone contiguous
"""
_LINEAR = _QUOTIENTS | frozenset(_LINEAR_NAMES.split())
#: How the result of a call that was not followed is described.
_CALLED = "(…)"


def check(trace: Trace) -> Iterator[Reported]:
    """Backwards whose loss knows a tensor only by its gathered copies."""
    told: set[Span] = set()
    for event in trace.events(Kind.BACKWARD):
        through: frozenset[Made] | None = None
        for tensor in all_in(event.value):
            made = tensor.made
            if made is None or made.op not in _GATHERS or tensor.attached or made.span in told or made.span.path not in trace.snapshot.contents:
                continue
            if not within(tensor.stamp, event.context.stamp):  # kept from an earlier step, in a queue of keys perhaps
                continue
            own = [each for each in made.tensors if each.attached]
            through = attached_in(event.value) if through is None else through
            unknown = not own and not event.value.forwards and _of_unknown_model(trace, made) and not _is_used_otherwise(event.value, made)
            if unknown or (own and not any(_reached(each, through) for each in own)):
                told.add(made.span)
                yield _reported(trace, event, made, unknown=unknown)
    for event, made in _reduced(trace):
        if made.span not in told and made.span.path in trace.snapshot.contents:
            told.add(made.span)
            yield _reported_sum(trace, event, made)


def _reduced(trace: Trace) -> Iterator[tuple[Event, Made]]:
    """Sums over the ranks that a backward goes through and that its loss is not linear in."""
    whole = {event.span for event in trace.events(Kind.COLLECTIVE) if event.subject == "all_reduce" and in_whole_group(trace, event) and event.context.grad}
    for event in trace.events(Kind.BACKWARD) if whole else ():
        todo: list[tuple[Tensor, bool]] = [(event.value, True)]
        seen: set[tuple[Made, bool]] = set()
        while todo:
            tensor, linear = todo.pop()
            made = tensor.made
            if not tensor.attached or made is None or (made, linear) in seen:
                continue
            seen.add((made, linear))
            if made.op == "all_reduce" and made.span in whole:
                if not linear and not is_part_of_unknown(made.inputs[0]):
                    yield event, made
                continue
            inputs = made.inputs[:1] if made.op in _QUOTIENTS else (*made.inputs, *made.options.values())
            keeps = linear and (made.op in _LINEAR or (made.op in {"mul", "rmul"} and sum(isinstance(each, Tensor) for each in made.inputs) == 1))
            todo.extend((each, keeps) for each in tensors_in(inputs))


def _of_unknown_model(trace: Trace, made: Made) -> bool:
    """Whether gradients are recorded, and what is gathered was computed from what something unknown was called for."""
    if not any(event.span == made.span and event.context.grad for event in trace.events(Kind.COLLECTIVE)):
        return False
    todo = list(made.tensors)
    while todo:
        before = todo.pop().made
        if before is None or before.op in CUTS:
            continue
        called = isinstance(before.options.get("callee"), Symbol)  # an unknown model, or a function
        if called or any(isinstance(each, Symbol) and _CALLED in each.why for each in before.inputs):
            return True
        todo.extend(before.tensors)
    return False


def _is_used_otherwise(loss: Tensor, gathered: Made) -> bool:
    """Whether the loss was made of what is gathered on another way too."""
    used = {each.made for each in all_in(loss, short_of=_GATHERS) if loss.attached}
    return any(each.made in used for each in gathered.tensors)


def _reached(own: Tensor, through: frozenset[Made]) -> bool:
    """Whether the loss goes through the gathered tensor itself, or through what it was computed of, short of the model's output."""
    made = own.made
    if made is None or made in through:
        return made is not None
    if "module" in made.options or made.op in {"getitem", "attribute"}:
        return False
    return any(_reached(each, through) for each in made.tensors if each.attached)


def _reported(trace: Trace, backward: Event, made: Made, *, unknown: bool) -> Reported:
    files = trace.snapshot.contents
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM if unknown else Confidence.HIGH,
        made.span,
        f"`{text(trace.snapshot, made.span)}` gives tensors without a graph, and the loss uses nothing else of what was gathered: it sends no gradient back",
        (
            Evidence(made.span, "gathered copies carry no gradient, this rank's own neither"),
            Evidence(visible(backward, files), "this backward reaches only them"),
        ),
    )
    match call_at(trace.snapshot, made.span):
        case ast.Call(func=ast.Attribute(value=package, attr="all_gather"), args=[ast.Name(id=parts), own]) if is_alone(trace.snapshot, made.span):
            span, place, name = span_of(trace.snapshot, made.span.path, own), statement_of(trace.snapshot, made.span), dotted(package)
        case _:
            return Reported(replace(finding, no_fix_because="use a gather that has a backward, as torch.distributed.nn.functional.all_gather"))
    if span is None or place is None or name is None:
        return Reported(replace(finding, no_fix_because="use a gather that has a backward, as torch.distributed.nn.functional.all_gather"))
    line = f"{parts}[{name}.get_rank()] = {text(trace.snapshot, span)}"
    title = "Is the gradient of this rank's own part enough? Then put it back in its place"
    return Reported(finding, Proposal(title, Safety.REVIEW, (InsertAfter(place, (line,)),)))


def _reported_sum(trace: Trace, backward: Event, made: Made) -> Reported:
    shown = text(trace.snapshot, made.span)
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM if trace.function else Confidence.HIGH,
            made.span,
            f"`{shown}` adds in place what autograd does not follow, and the loss is not linear in the sum: no gradient comes back from the other ranks' "
            "losses, so that it is off by the number of ranks",
            (
                Evidence(made.span, "the sum over the ranks has no backward"),
                Evidence(visible(backward, trace.snapshot.contents), "this backward goes through it"),
            ),
            no_fix_because="assign the result of torch.distributed.nn.functional.all_reduce, which has a backward; it changes nothing in place",
        )
    )


_SUMS = """
import torch
import torch.distributed as dist
from torch import nn

class Correlation(nn.Module):
    def forward(self, a, b):
        c = a.T @ b / len(a)
        {summed}
        return (1 - c).pow(2).sum()
"""

RULE = Rule(
    "gather-without-grad",
    Severity.ERROR,
    "a loss is computed over gathered tensors that carry no gradient",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch
import torch.distributed as dist
from torch.nn import functional as F

def gathered(x):
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)  # flagged
    return torch.cat(parts)

def train(images, texts, scale, loader):
    optimizer = torch.optim.SGD([*images.parameters(), *texts.parameters(), scale], lr=0.1)
    for x, y in loader:
        a, b = gathered(images(x)), gathered(texts(y))
        logits = scale * a @ b.t()
        optimizer.zero_grad()
        F.cross_entropy(logits, torch.arange(len(logits))).backward()
        optimizer.step()

train(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), torch.nn.Parameter(torch.ones(1)), [(torch.zeros(4, 8), torch.zeros(4, 8))])
""",
            fixed="""
import torch
import torch.distributed as dist
from torch.nn import functional as F

def gathered(x):
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    parts[dist.get_rank()] = x
    return torch.cat(parts)

def train(images, texts, scale, loader):
    optimizer = torch.optim.SGD([*images.parameters(), *texts.parameters(), scale], lr=0.1)
    for x, y in loader:
        a, b = gathered(images(x)), gathered(texts(y))
        logits = scale * a @ b.t()
        optimizer.zero_grad()
        F.cross_entropy(logits, torch.arange(len(logits))).backward()
        optimizer.step()

train(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), torch.nn.Parameter(torch.ones(1)), [(torch.zeros(4, 8), torch.zeros(4, 8))])
""",
        ),
        Good(
            """
import torch
import torch.distributed as dist
from torch.nn import functional as F

def train(images, texts, loader):
    optimizer = torch.optim.SGD([*images.parameters(), *texts.parameters()], lr=0.1)
    for x, y in loader:
        a, b = images(x), texts(y)
        parts = [torch.zeros_like(b) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, b)
        others = torch.cat([b, *parts])
        logits = a @ others.t()
        optimizer.zero_grad()
        F.cross_entropy(logits, torch.arange(len(a))).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch
import torch.distributed as dist
from torch.nn import functional as F

@torch.no_grad()
def gathered(x):
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.cat(parts)

def train(encoder, teacher, loader):
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
    for x in loader:
        with torch.no_grad():
            keys = gathered(teacher(x))
        logits = encoder(x) @ keys.t()
        optimizer.zero_grad()
        F.cross_entropy(logits, torch.arange(len(x))).backward()
        optimizer.step()
"""
        ),
        Bad(_SUMS.format(summed="dist.all_reduce(c)  # flagged")),
        Good(_SUMS.format(summed="c = torch.distributed.nn.functional.all_reduce(c)")),
        Good(_SUMS.format(summed="shown = c.detach().clone()\n        dist.all_reduce(shown)")),
        Good(_SUMS.replace("(1 - c).pow(2).sum()", "(1 - a).pow(2).sum() + c.mean()").format(summed="dist.all_reduce(c)")),
    ),
)
