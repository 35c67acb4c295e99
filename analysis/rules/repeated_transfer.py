"""The same tensor is copied to the GPU in every step.

A tensor that is built once on the host and moved inside the loop crosses the bus again in each step, and from ordinary memory the host waits
for the copy. The same happens to a plain tensor that a module keeps as an attribute and moves in its `forward`.

A tensor of zeros, ones or random numbers that is made on the host in each step, only to be moved, is the small case of it: a notice. So is a handful of
numbers (the weights of some classes), of which only the wait counts.

**How to fix it.** Move it once, before the loop; on a module, `self.register_buffer(...)`, which moves with the model. What `torch.zeros(...)` and the like
make can be made on the device: `torch.zeros(..., device=device)`.

**What is not reported.** Batches and whatever else is new in each step and made of data; tensors that may be on the device already: made there, moved
before, parameters and buffers of a model, outputs of one; what is made where no gradients are recorded (samples to look at); programs that use no device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertBefore, Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Stamp
from analysis.library.tensor import Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._devices import goes_to_device, uses_device
from analysis.rules._made_on_host import RANDOM, is_handful, made_on_device, made_to_move
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, call_at, dotted, span_of, text

#: Operations that make a tensor on the host, unless they are told another device.
_ON_HOST = frozenset(
    ["tensor", "from_numpy", "as_tensor", "zeros", "ones", "rand", "randn", "empty", "full", "arange", "linspace", "eye", "randint", "randperm",
     "hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"]
)  # fmt: skip
_KEEPING = """
view reshape flatten unsqueeze squeeze permute transpose float half double long contiguous expand repeat getitem add sub mul truediv pow sqrt log
exp neg sum mean stack cat triu tril cumsum cumprod sin cos detach clone bool int byte eq ne lt le gt ge invert logical_not masked_fill outer
meshgrid full_like zeros_like ones_like empty_like rand_like randn_like where clamp roll flip concat concatenate hstack vstack
"""
#: Operations whose result is where their input is.
_STAYS = frozenset(_KEEPING.split())


def check(trace: Trace) -> Iterator[Reported]:
    """Moves inside a training loop of tensors that were made on the host before it began."""
    if not uses_device(trace):
        return
    steps = {number for event in trace.events(Kind.STEP) for number, _ in event.context.stamp}
    stamps = [event.context.stamp for event in trace.events(Kind.STEP, Kind.BACKWARD)]
    loops = {stamp[-1][0] for stamp in stamps if any(number in steps for number, _ in stamp)}  # not the loop over epochs
    trained = {_turn(stamp, loops) for stamp in stamps}
    turns: dict[tuple[Span, Tensor], tuple[Event, set[Stamp]]] = {}
    told: set[Span] = set()
    for event in trace.events(Kind.TO_DEVICE):
        tensor = event.subject
        if not isinstance(tensor, Tensor) or trace.undecided(event) or not goes_to_device(event) or not _from_host(trace, tensor):
            continue
        if tensor.stamp == event.context.stamp and event.span not in told and any(number in loops for number, _ in tensor.stamp) and made_to_move(trace, event):
            told.add(event.span)
            yield _made_elsewhere(trace, event, tensor)
        newer = event.context.stamp[len(tensor.stamp) :] if event.context.stamp[: len(tensor.stamp)] == tensor.stamp else ()
        if any(number in loops for number, _ in newer):
            turns.setdefault((event.span, tensor), (event, set()))[1].add(_turn(event.context.stamp, loops))
    for (_, tensor), (event, seen) in turns.items():
        around = {turn for turn in trained if turn[: len(tensor.stamp)] == tensor.stamp}
        if len(seen & trained) > 1 and len(around - seen) <= max(1, len(around) // 4):  # a sample or an evaluation now and then is not every step
            yield _reported(trace, event, tensor)


def _turn(stamp: Stamp, loops: set[int]) -> Stamp:
    """The iteration of the loop that trains in which something happens: the stamp up to it."""
    level = next((place for place, (number, _) in enumerate(stamp) if number in loops), len(stamp))
    return stamp[: level + 1]


def _from_host(trace: Trace, tensor: Tensor) -> bool:
    """Whether everything it was made of was made on the host, by code of the repository, and never moved."""
    found = False
    for each in ancestors(tensor):
        made = each.made
        if made is None or each.attached or made.options.get("device") is not None:
            return False
        found = found or made.op in _ON_HOST
        if made.op not in _ON_HOST | _STAYS or made.span.path not in trace.snapshot.contents:
            return False
    return found


def _reported(trace: Trace, event: Event, tensor: Tensor) -> Reported:
    files = trace.snapshot.contents
    span = visible(event, files)
    made = tensor.span if tensor.span.path in files else span
    call = call_at(trace.snapshot, span)
    name = dotted(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else None
    finding = Finding(
        RULE.name,
        Severity.NOTICE if is_handful(ancestors(tensor)) else RULE.severity,
        Confidence.HIGH,
        span,
        f"`{name or text(trace.snapshot, span)}` never changes, and it is copied from the host to the device in every step",
        (Evidence(made, "the tensor is made once, on the host"), Evidence(span, "and moved here, inside the loop that trains")),
    )
    return _with_fix(trace, finding, span, name, made)


def _made_elsewhere(trace: Trace, event: Event, tensor: Tensor) -> Reported:
    span = event.span
    finding = Finding(
        RULE.name,
        Severity.NOTICE,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` is made on the host and copied to the device in every step: `device=` makes it there",
        (Evidence(tensor.span, "made on the host"), Evidence(span, "and moved at once, inside the loop that trains")),
    )
    changed = made_on_device(trace, event)
    if changed is None:
        return Reported(replace(finding, no_fix_because="whether it is moved to a device alone is not told"))
    if tensor.made is not None and tensor.made.op in RANDOM:
        title = "May the random numbers be others, drawn by the device? Then make the tensor there"
        return Reported(finding, Proposal(title, Safety.REVIEW, (ReplaceExpression(span, changed),)))
    return Reported(finding, Proposal("Make the tensor on the device", Safety.SAFE, (ReplaceExpression(span, changed),)))


def _with_fix(trace: Trace, finding: Finding, span: Span, name: str | None, made: Span) -> Reported:
    """A local variable that is made in the same function is moved before the loop; the move inside then copies nothing."""
    snapshot = trace.snapshot
    inside, at = around(snapshot, span), around(snapshot, made)
    if name is None or not name.isidentifier() or inside is None or at is None or inside.function is not at.function or made.path != span.path:
        return Reported(replace(finding, no_fix_because="where it is made is not where it is used: move it there, or register it as a buffer of the module"))
    loop = next((each for each in inside.statements if isinstance(each, (ast.For, ast.While))), None)
    whole = span_of(snapshot, span.path, loop) if loop is not None else None
    call, source = call_at(snapshot, span), snapshot.source(span.path)
    if loop is None or whole is None or whole.start < made.start or call is None or not isinstance(source, SourceFile):
        return Reported(replace(finding, no_fix_because="it is not made before the loop in the same function"))
    if _names(call) & _bound_in(loop):
        return Reported(replace(finding, no_fix_because="the device is only known inside the loop"))
    return Reported(finding, Proposal("Move it once, before the loop", Safety.SAFE, (InsertBefore(whole, (f"{name} = {source.text(span)}",)),)))


def _names(call: ast.Call) -> set[str]:
    return {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}


def _bound_in(loop: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


_EXAMPLE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 8)
        {keep}

    def forward(self, x):
        return self.body(x) * self.scale.to(x.device)

def train(stats, loader, device):
    net = Net().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    mean = torch.tensor(stats)
{body}
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y.to(device)).backward()
        optimizer.step()
"""
_BUFFER = 'self.register_buffer("scale", torch.ones(8))'
_LOOP = "    for x, y in loader:"


def _training(*lines: str, keep: str = _BUFFER) -> str:
    return _EXAMPLE.format(keep=keep, body="\n".join(lines))


RULE = Rule(
    "repeated-transfer",
    Severity.WARNING,
    "the same tensor is copied to the device in every step",
    __doc__,
    check,
    examples=(
        Bad(
            _training(_LOOP, "        x = x.to(device) - mean.to(device)  # flagged"),
            fixed=_training("    mean = mean.to(device)", _LOOP, "        x = x.to(device) - mean.to(device)"),
        ),
        Bad(_training(_LOOP, "        x = x.to(device)", "        x = x - mean.to(x.device)  # flagged")),
        Bad(_training(_LOOP, "        x = x.to(device)", keep="self.scale = torch.ones(8)").replace("x.device)", "x.device)  # flagged")),
        Good(_training("    mean = mean.to(device)", _LOOP, "        x = x.to(device) - mean")),
        Bad(
            _training(_LOOP, '        x = x.to(device) - torch.ones(8).to("cuda")  # flagged'),
            fixed=_training(_LOOP, '        x = x.to(device) - torch.ones(8, device="cuda")'),
        ),
        Bad(
            _training(_LOOP, "        x = x.to(device) + torch.randn(8).cuda()  # flagged"),
            fixed=_training(_LOOP, '        x = x.to(device) + torch.randn(8, device="cuda")'),
        ),
        Good(_training(_LOOP, "        x = x.to(device) - torch.tensor(stats).to(device)")),
        Good(_training(_LOOP, "        with torch.no_grad():", '            print(net(torch.randn(4, 8).to("cuda")))', "        x = x.to(device)")),
        Good(_training(_LOOP, '        x = x.to(device) - torch.ones(8, device="cuda").to("cuda")')),
    ),
)
