"""The GPU waits while the training process decodes the next batch.

Without `num_workers` a loader reads, decodes and transforms in the training process itself: while it does, the GPU has nothing to do, and while the GPU
computes, nothing is read. For images and audio that is often the larger part of the time of a step.

**How to fix it.** `DataLoader(…, num_workers=4, pin_memory=True)` and `batch.cuda(non_blocking=True)`; about as many workers as there are cores for each GPU.

**What is not reported.** Data that is in memory already; data sets whose items cost nothing that could be seen; loaders that only evaluate; programs that
use no device. One loader per program is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, Reported, SetArgument
from analysis.interpreter.values import Instance, Value
from analysis.library.host_work import DECODES
from analysis.rule import Bad, Good, Rule
from analysis.rules._devices import uses_device
from analysis.rules._training_data import training_loaders
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import call_at, text

_DEEPEST = 8


def check(trace: Trace) -> Iterator[Reported]:
    """The first training loader without workers whose data set works for each item."""
    if not uses_device(trace):
        return
    for built in training_loaders(trace):
        workers = built.detail.get("num_workers", 0)
        work = _work(trace, built.detail.get("dataset")) if isinstance(workers, int) and workers == 0 else None
        if work is not None:
            yield _reported(trace, built, work)
            return


def _work(trace: Trace, dataset: Value) -> Span | None:
    """Where an item of the data set is read or decoded; None: nowhere that could be seen."""
    for _ in range(_DEEPEST):
        if not isinstance(dataset, Instance):
            return None
        if dataset.fields.get(DECODES) is True:
            return dataset.span
        work = next((event for event in trace.events(Kind.HOST_WORK) if event.subject is dataset), None)
        if work is not None:
            return visible(work, trace.snapshot.contents)
        dataset = dataset.fields.get("dataset")
    return None


def _reported(trace: Trace, built: Event, work: Span) -> Reported:
    span = visible(built, trace.snapshot.contents)
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH,
        span,
        f"this loader has no workers: `{text(trace.snapshot, work)}` runs in the training process, and the GPU waits for every batch; "
        "with images or audio that is often most of a step",
        (Evidence(work, "each item is read or decoded here"), Evidence(span, "in the process that trains: num_workers is 0")),
    )
    call = call_at(trace.snapshot, span)
    if call is None:
        return Reported(replace(finding, no_fix_because="the loader is built elsewhere"))
    return Reported(
        finding,
        Proposal(
            "Are there cores to spare, and is the script's start guarded by __name__? Then load in workers",
            Safety.REVIEW,
            (SetArgument(span, "num_workers", "4"),),
        ),
    )


_EXAMPLE = """
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

class Photos(Dataset):
    def __init__(self, items, transform):
        self.items, self.transform = items, transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        path, label = self.items[i]
        return {item}, label

def train(net, items, transform, device):
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Photos(items, transform), batch_size=32, shuffle=True{options}
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
        optimizer.step()
"""
_DECODED = "self.transform(Image.open(path))"

RULE = Rule(
    "stalled-loader",
    Severity.NOTICE,
    "the GPU waits while the training process decodes the next batch",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(item=_DECODED, options=")  # flagged"), fixed=_EXAMPLE.format(item=_DECODED, options=", num_workers=4)")),
        Good(_EXAMPLE.format(item=_DECODED, options=", num_workers=8)")),
        Good(_EXAMPLE.format(item="path", options=")")),
        Good(_EXAMPLE.format(item=_DECODED, options=")").replace("net.to(device)", "net.train()").replace(".to(device)", "")),
    ),
)
