"""Tensors of different shapes are gathered.

`all_gather` and Accelerate's `gather` want the same shape on every rank. What a mask picks, `nonzero` and `unique` find, or a model generates has
another length on each rank, and so do the outputs per token of a batch that is filled up to its own longest sequence: with NCCL the job hangs or
reads past the end of a buffer, with luck it stops with an error about sizes. So does what was computed of every n-th sample from the rank on: some
ranks have one sample more.

**How to fix it.** Fill up to the longest first (`accelerator.pad_across_processes`, or gather the lengths, pad and cut again), or gather objects
(`all_gather_object`, `gather_object`).

**What is not reported.** Tensors that went through padding, concatenation with others or a reduction since; objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.library.tensor import Made, Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._samplers import dealt_out
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Kind
from analysis.trace.places import visible
from analysis.trace.reading import text

_GATHERS = frozenset({"all_gather", "all_gather_into_tensor", "accelerator.gather", "accelerator.gather_for_metrics", "accelerate.gather", "gather"})
#: What tokenizers call the entries of a batch that have one item per token: as a rule each batch is filled up to its own longest sequence.
_ENTRIES = frozenset({"input_ids", "attention_mask"})
#: Operations whose result has a length that depends on the data.
_UNEVEN = frozenset({"masked_select", "nonzero", "unique", "unique_consecutive", "argwhere", "generate", "nms", "batched_nms"})
_MASKS = frozenset(
    ["eq", "ne", "lt", "le", "gt", "ge", "and", "or", "invert", "isnan", "isfinite", "isinf", "logical_and", "logical_or", "logical_not", "bool"]
)
#: Operations that keep the length.
_KEEPING = frozenset(
    ["to", "cuda", "cpu", "contiguous", "detach", "data", "clone", "float", "half", "long", "int", "unsqueeze", "squeeze", "softmax", "argmax", "sigmoid"]
)
_DEEPEST = 20
#: Operations that leave the shape as it is.
_SAME_SHAPE = _KEEPING - {"argmax", "unsqueeze", "squeeze"}
#: Operations between the choice of a class and the sum over tokens.
_NEAR = 12
#: Batch, tokens, classes.
_DIMENSIONS = 3
#: The name of an output, and the forwards that gave it.
_Output: TypeAlias = tuple[str, frozenset[int]]


def check(trace: Trace) -> Iterator[Reported]:
    """Each gather of a tensor whose length depends on a rank's data."""
    if not trace.distributed:
        return
    told: set[Span] = set()
    per_token: frozenset[_Output] | None = None
    for event in trace.events(Kind.COLLECTIVE):
        span = visible(event, trace.snapshot.contents)
        if event.subject not in _GATHERS or span in told:
            continue
        made = next((found for tensor in tensors_in(event.value) if (found := _uneven(trace, tensor)) is not None), None)
        if made is None:
            per_token = _per_token(trace) if per_token is None else per_token
            outputs = (_output(tensor) for tensor in tensors_in(event.value))
            made = next((output[1] for output in outputs if output is not None and output[0] in per_token), None)
        if made is not None:
            told.add(span)
            yield _reported(trace, span, made)


def _uneven(trace: Trace, tensor: Tensor) -> Made | None:
    """The operation that gave the tensor a length of its own, if only such as keep it followed."""
    for _ in range(_DEEPEST):
        made = tensor.made
        if made is None:
            return None
        if made.op == "batch":
            return made if dealt_out(trace.snapshot, made.options.get("loader")) is not None else None
        if made.op in _UNEVEN or (made.op == "getitem" and (_is_mask(made.options.get("key")) or _is_tokens(made))):
            return made
        if made.op == "getitem" and (chosen := _index(made.options.get("key"))) is not None:
            return _uneven(trace, chosen)
        if made.op == "cat":
            pieces = [_uneven(trace, each) for each in made.tensors]
            whole = None not in pieces or _is_beside(made)
            return next(filter(None, pieces), None) if whole else None
        inner = next(iter(made.tensors), None)
        if inner is None or not (made.op in _KEEPING or made.op == "forward" or _is_part_of_batch(made, inner)):
            return None
        tensor = inner
    return None


def _is_part_of_batch(made: Made, whole: Tensor) -> bool:
    """Whether it is one of the tensors that a loader gives together."""
    return made.op == "getitem" and isinstance(made.options.get("key"), (int, str)) and whole.made is not None and whole.made.op == "batch"


def _index(key: object) -> Tensor | None:
    """The numbers of the items that are taken, ``x[kept]`` or ``x[kept, None]``: the result is as long as they are."""
    first = key[0] if isinstance(key, tuple) and key else key
    return first if isinstance(first, Tensor) else None


def _is_beside(made: Made) -> bool:
    """Whether tensors of one length are put side by side: ``cat((boxes, scores), dim=1)``."""
    dimension = made.options.get("dim", 0)
    return isinstance(dimension, int) and dimension != 0


def _is_tokens(made: Made) -> bool:
    """Whether it takes the tokens of a batch."""
    key = made.options.get("key")
    return isinstance(key, str) and key in _ENTRIES and any(each.made is not None and each.made.op == "batch" for each in made.tensors)


def _per_token(trace: Trace) -> frozenset[_Output]:
    """The outputs of models that have one item per token, as the way to a loss shows.

    They are cut along a dimension between the batch and the classes, or summed along it after one class was picked for each token.
    """
    found: set[_Output] = set()
    for event in trace.events(Kind.BACKWARD):
        for tensor in ancestors(event.value):
            outputs = (_output(source) for source in (_cut(tensor), _summed(tensor)) if source is not None)
            found.update(output[0] for output in outputs if output is not None)
    return frozenset(found)


def _cut(tensor: Tensor) -> Tensor | None:
    """What ``[:, :-1, :]`` was taken of."""
    made = tensor.made
    return next(tensors_in(made.inputs), None) if made is not None and made.op == "getitem" and _cuts_the_middle(made.options.get("key")) else None


def _summed(tensor: Tensor) -> Tensor | None:
    """Of what the classes were picked, ``gather(dim=-1)``, before ``sum(-1)`` went over what was left."""
    if tensor.made is None or tensor.made.op not in {"sum", "mean"} or not _goes_over_the_last(tensor.made):
        return None
    for _ in range(_NEAR):
        inner = next(tensors_in(tensor.made.inputs), None) if tensor.made is not None else None
        if inner is None or inner.made is None:
            return None
        if inner.made.op == "gather":
            return next(tensors_in(inner.made.inputs), None) if _goes_over_the_last(inner.made) else None
        tensor = inner
    return None


def _goes_over_the_last(made: Made) -> bool:
    dimension = made.options.get("dim", made.inputs[1] if len(made.inputs) > 1 else None)
    return isinstance(dimension, int) and dimension == -1


def _cuts_the_middle(key: object) -> bool:
    """``[:, :-1, :]`` or ``[..., :-1, :]``."""
    return isinstance(key, tuple) and len(key) == _DIMENSIONS and isinstance(key[1], slice) and not _is_whole(key[1]) and _is_whole(key[2])


def _is_whole(part: object) -> bool:
    return isinstance(part, slice) and part.start is None and part.stop is None


def _output(tensor: Tensor) -> tuple[_Output, Made] | None:
    """Which output of which forwards the tensor is, perhaps for some of the batch, if its shape was not changed since."""
    for _ in range(_DEEPEST):
        made = tensor.made
        inner = next(tensors_in(made.inputs), None) if made is not None else None
        if made is None or inner is None:
            return None
        if made.op == "attribute" and inner.made is not None and inner.made.op == "forward":
            return (str(made.options.get("name")), inner.forwards), made
        if made.op not in _SAME_SHAPE and not (made.op == "getitem" and isinstance(made.options.get("key"), slice)):
            return None
        tensor = inner
    return None


def _is_mask(key: object) -> bool:
    return isinstance(key, Tensor) and key.made is not None and key.made.op in _MASKS


def _reported(trace: Trace, span: Span, made: Made) -> Reported:
    found = text(trace.snapshot, made.span) if made.span.path in trace.snapshot.contents else made.op
    padded = made.op == "attribute" or _is_tokens(made)
    sure = made.op not in {"generate", "batch"} and not padded
    per = "this rank's longest sequence" if padded else "this rank's data has"
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            Confidence.HIGH if sure else Confidence.MEDIUM,
            span,
            f"the ranks gather tensors of different lengths: `{found}` gives as many items as {per}",
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

_TOKENS = """
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

accelerator = Accelerator()
model = AutoModelForCausalLM.from_pretrained("x")
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
model.train()
for batch in loader:
    logits = model(**batch).logits
    kept = logits[:4]
    seen = accelerator.gather({gathered}){mark}
    logits = logits[:, :-1, :].flatten(0, 1)
    optimizer.zero_grad()
    accelerator.backward(torch.nn.functional.cross_entropy(logits, batch["labels"][:, 1:].flatten()))
    optimizer.step()
"""

_TRAINER = """
from transformers import Trainer

class Counting(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        mode = "eval" if self.control.should_evaluate else "train"
        if mode == "train":
            self.seen = self.accelerator.gather_for_metrics({gathered}).sum().item(){mark}
        return outputs.loss
"""

RULE = Rule(
    "uneven-gather",
    Severity.ERROR,
    "tensors of different shapes are gathered",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(made="found = scores[scores > 0.5].contiguous()", mark="  # flagged")),
        Bad(_TOKENS.format(gathered="kept.detach()", mark="  # flagged")),
        Good(_TOKENS.format(gathered="kept.detach().mean()", mark="")),
        Bad(_TRAINER.format(gathered='inputs["attention_mask"]', mark="  # flagged")),
        Good(_TRAINER.format(gathered='inputs["attention_mask"].sum()', mark="")),
        Good(_EXAMPLE.format(made="found = scores.mean(1)", mark="")),
        Good(_EXAMPLE.format(made="found = torch.nn.functional.pad(scores[scores > 0.5], (0, 8))", mark="")),
    ),
)
