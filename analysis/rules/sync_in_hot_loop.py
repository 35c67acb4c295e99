"""The host waits for the GPU in every training step.

PyTorch gives the GPU its work ahead of time. `loss.item()`, `float(loss)`, `.cpu()` and `torch.cuda.synchronize()` wait until all of it is done; meanwhile no
new work is launched, and the GPU then idles until some is. Once per step this costs little (reports range from below one percent to a factor of two: the
smaller the model, the more); several times per step, or before the backward is launched, it costs more.

**How to fix it.** Add up `loss.detach()` on the device and read the sum once per logging interval; do not synchronise in the loop but around what is measured.

**What is not reported.** Reads that do not happen in every step (every n steps, once per epoch), that choose an action or decide a branch of
another model, or on data that never was on the device; programs that use no device. One place per program is reported, the costliest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.library.tensor import Tensor
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._devices import goes_to_host, uses_device
from analysis.rules._objects import numbers_in
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible, within
from analysis.trace.reading import text

#: A read that happens in fewer iterations than these is not taken for one of every step.
_ENOUGH = 3


@dataclass(frozen=True, slots=True)
class _Wait:
    """A read in every step; ``inner``: in a loop inside the step, each time of something new, so that the device waits several times."""

    event: Event
    backward: Event
    inner: bool


def check(trace: Trace) -> Iterator[Reported]:
    """The costliest place at which every step waits for the device."""
    if not uses_device(trace) or not any(True for _ in trace.events(Kind.STEP)):
        return
    waits = sorted(_waits(trace), key=lambda wait: not wait.inner)
    if waits:
        yield _reported(trace, waits[0], len({visible(wait.event, trace.snapshot.contents) for wait in waits}) - 1)


def _waits(trace: Trace) -> Iterator[_Wait]:
    """Reads of what a training step computed, in every iteration of the loop that trains."""
    backwards: dict[int, list[Event]] = {}
    for event in trace.events(Kind.BACKWARD):
        if event.context.stamp:
            backwards.setdefault(event.context.stamp[-1][0], []).append(event)
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    found: dict[tuple[Span, tuple[Span, ...], int], list[Event]] = {}
    for event in trace.events(Kind.ITEM, Kind.TO_DEVICE):
        loop = next((number for number, _ in event.context.stamp if number in backwards), None)
        if loop is not None and event.span.path in trace.snapshot.contents and not trace.undecided(event) and _waits_for_step(event, learned):
            found.setdefault((event.span, event.path, loop), []).append(event)
    for (_, _, loop), events in found.items():
        turns = {_turn(event, loop) for event in events}
        trained = {_turn(event, loop) for event in backwards[loop]}
        # Where backwards come every n iterations, what else does may come less often: n and the other number are both unknown.
        each = len(trained) > max(trained) - min(trained)
        if each and len(turns & trained) >= _ENOUGH and len(turns & trained) >= len(trained) - 1:
            repeated = len(events) > len(turns)
            yield _Wait(events[0], backwards[loop][0], inner=repeated and _is_inner(trace, events[0], loop) and _is_new(events[0]))


def _is_inner(trace: Trace, event: Event, loop: int) -> bool:
    """Whether another loop goes round within the step: one of the program, not a framework's over its callbacks."""
    number = event.context.stamp[-1][0]
    inner = trace.loop(number)
    return number != loop and (inner is None or inner.span.path in trace.snapshot.contents)


def _is_new(event: Event) -> bool:
    """Whether what is read was computed in the innermost loop around: of values that are all ready, the first read waits for all."""
    read = event.subject if event.kind is Kind.TO_DEVICE else event.value
    return not isinstance(read, Tensor) or within(read.stamp, event.context.stamp)


def _turn(event: Event, loop: int) -> int:
    """The iteration of ``loop`` in which it happened."""
    return next(turn for number, turn in event.context.stamp if number == loop)


def _waits_for_step(event: Event, learned: frozenset[int]) -> bool:
    """Whether the host needs a value of the training step, or everything."""
    if event.kind is Kind.TO_DEVICE:
        return isinstance(event.subject, Tensor) and goes_to_host(event) and _of_step(event.subject, learned)
    return event.value is None or (isinstance(event.value, Tensor) and _of_step(event.value, learned))


def _of_step(value: Tensor, learned: frozenset[int]) -> bool:
    """Whether it was made of what is back-propagated, or of gradients; what is on the host already costs nothing."""
    for tensor in ancestors(value):
        if tensor.forwards & learned or (tensor.made is not None and tensor.made.op == "norm" and not tensor.made.inputs):
            return True
        if tensor.made is not None and tensor.made.op == "to" and "cpu" in [each for each in tensor.made.inputs if isinstance(each, str)]:
            return False
    return False


def _reported(trace: Trace, wait: _Wait, others: int) -> Reported:
    files = trace.snapshot.contents
    span = visible(wait.event, files)
    often = "several times per step" if wait.inner else "in every step"
    more = f", and so {'does one more place' if others == 1 else f'do {others} more places'}" if others else ""
    finding = Finding(
        RULE.name,
        Severity.WARNING if wait.inner else RULE.severity,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` waits for the GPU {often}{more}: the GPU idles until new work is launched, which costs "
        "little with a large model and much with a small one",
        (Evidence(visible(wait.backward, files), "the loop that trains"), Evidence(span, "the host stops here until the device has finished")),
        no_fix_because="where the value is needed decides: add up the detached tensor and read it once per logging interval",
    )
    return Reported(finding)


_TRAIN = """
import torch

def train(net, loader):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    total = torch.zeros((), device="cuda")
    shown = 0.0
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {read}
    print(total.item(), shown)
"""

RULE = Rule(
    "sync-in-hot-loop",
    Severity.NOTICE,
    "the host waits for the GPU in every training step",
    __doc__,
    check,
    examples=(
        Bad(_TRAIN.format(read="shown += loss.item()  # flagged")),
        Bad(_TRAIN.format(read="torch.cuda.synchronize()  # flagged")),
        Bad(
            """
import torch

def train(net, loader):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batches in loader:
        optimizer.zero_grad()
        shown = 0.0
        for x, y in batches:
            loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda()) / len(batches)
            loss.backward()
            shown += float(loss)  # flagged
        optimizer.step()
"""
        ),
        Good(_TRAIN.format(read="total += loss.detach()")),
        Good(_TRAIN.format(read="if step % 100 == 0:\n            print(step, loss.item())")),
        Good(_TRAIN.replace(".cuda()", "").format(read="shown += loss.item()")),
    ),
)
