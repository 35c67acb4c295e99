"""Tensors of different shapes are gathered.

`all_gather` and Accelerate's `gather` want the same shape on every rank. What a mask picks, `nonzero` and `unique` find, or a model generates has
another length on each rank: with NCCL the job hangs or reads past the end of a buffer, with luck it stops with an error about sizes.

**How to fix it.** Fill up to the longest first (`accelerator.pad_across_processes`, or gather the lengths, pad and cut again), or gather objects
(`all_gather_object`, `gather_object`).

**What is not reported.** Tensors that went through padding, concatenation with others or a reduction since; objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.library.tensor import Made, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.places import visible
from analysis.trace.reading import text

_GATHERS = frozenset({"all_gather", "all_gather_into_tensor", "accelerator.gather", "accelerator.gather_for_metrics", "gather"})
#: Operations whose result has a length that depends on the data.
_UNEVEN = frozenset({"masked_select", "nonzero", "unique", "unique_consecutive", "argwhere", "generate"})
_MASKS = frozenset(
    ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "invert", "isnan", "isfinite", "isinf", "logical_and", "logical_or", "logical_not", "bool"]
)
#: Operations that keep the length.
_KEEPING = frozenset(
    ["to", "cuda", "cpu", "contiguous", "detach", "data", "clone", "float", "half", "long", "int", "unsqueeze", "squeeze", "softmax", "argmax", "sigmoid"]
)
_DEEPEST = 20


def check(trace: Trace) -> Iterator[Reported]:
    """Each gather of a tensor whose length depends on a rank's data."""
    if not trace.distributed:
        return
    told: set[Span] = set()
    for event in trace.events(Kind.COLLECTIVE):
        span = visible(event, trace.snapshot.contents)
        if event.subject not in _GATHERS or span in told:
            continue
        made = next((found for tensor in tensors_in(event.value) if (found := _uneven(tensor)) is not None), None)
        if made is not None:
            told.add(span)
            yield _reported(trace, span, made)


def _uneven(tensor: Tensor) -> Made | None:
    """The operation that gave the tensor a length of its own, if only such as keep it followed."""
    for _ in range(_DEEPEST):
        made = tensor.made
        if made is None:
            return None
        if made.op in _UNEVEN or (made.op == "getitem" and _is_mask(made.options.get("key"))):
            return made
        if made.op == "cat":
            pieces = [_uneven(each) for each in tensors_in(made.inputs)]
            return pieces[0] if pieces and None not in pieces else None
        inner = next(tensors_in(made.inputs), None)
        if made.op not in _KEEPING or inner is None:
            return None
        tensor = inner
    return None


def _is_mask(key: object) -> bool:
    return isinstance(key, Tensor) and key.made is not None and key.made.op in _MASKS


def _reported(trace: Trace, span: Span, made: Made) -> Reported:
    found = text(trace.snapshot, made.span) if made.span.path in trace.snapshot.contents else made.op
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.MEDIUM if made.op == "generate" else Confidence.HIGH,
            span,
            f"the ranks gather tensors of different lengths: `{found}` gives as many items as this rank's data has",
            (Evidence(made.span, "the length depends on the data, and the data on the rank"), Evidence(span, "gathered here, where all shapes have to agree")),
            no_fix_because="the tensor has to be filled up to the longest before, and cut again afterwards",
        )
    )


_EXAMPLE = """
import torch
import torch.distributed as dist

def evaluate(net, loader):
    dist.init_process_group("nccl")
    net.eval()
    with torch.no_grad():
        for x in loader:
            scores = net(x)
            {made}
            parts = [torch.zeros_like(found) for _ in range(dist.get_world_size())]
            dist.all_gather(parts, found){mark}
"""

RULE = Rule(
    "uneven-gather",
    Severity.ERROR,
    "tensors of different shapes are gathered",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(made="found = scores[scores > 0.5].contiguous()", mark="  # flagged")),
        Good(_EXAMPLE.format(made="found = scores.mean(1)", mark="")),
        Good(_EXAMPLE.format(made="found = torch.nn.functional.pad(scores[scores > 0.5], (0, 8))", mark="")),
    ),
)
