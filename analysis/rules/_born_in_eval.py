"""Pretrained models whose layers drop values in training: ``from_pretrained`` returns them in evaluation mode. Shared by rules, and no rule itself.

Facts from the configuration classes of Transformers: BERT and its kin, GPT-2, T5, BART and wav2vec 2.0 drop a tenth of their activations by default; Llama,
Mistral, Qwen, Gemma, ViT and Whisper drop none, so that their mode makes no difference to a plain training step, unless they are to compute
activations anew in the backward: they do that in training mode alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.interpreter.values import Instance
from analysis.library.modules import CHECKPOINTED
from analysis.rules._objects import forward_numbers
from analysis.snapshot import Snapshot
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import around, call_at, callee, text

#: Parts of names of classes, and beginnings of names of models, whose default configuration drops values.
_FAMILIES = (
    "bert", "electra", "deberta", "gpt2", "t5", "bart", "albert", "xlnet", "camembert", "longformer", "funnel", "mpnet", "pegasus", "marian", "wav2vec2",
    "hubert", "wavlm",
)  # fmt: skip
#: What the automatic classes are asked for by tasks that such models are taken for.
_TASKS = ("SequenceClassification", "TokenClassification", "QuestionAnswering", "MaskedLM", "MultipleChoice", "NextSentencePrediction")


def drops_by_default(snapshot: Snapshot, built: Span) -> bool:
    """Whether the pretrained model that the call at ``built`` makes is of a family that drops values unless it is told not to."""
    name = callee(snapshot, built) or ""
    call = call_at(snapshot, built)
    given = call.args[0] if call is not None and call.args else None
    told = given.value.lower() if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
    if call is not None and any(keyword.arg is not None and "drop" in keyword.arg for keyword in call.keywords):
        return False
    if told:
        return any(family in told for family in _FAMILIES)
    return any(task in name for task in _TASKS) or any(family in name.lower() for family in _FAMILIES)


def misses(trace: Trace, built: Event, model: Instance) -> str:
    """What the model lacks in the mode in which ``from_pretrained`` returned it; nothing where that mode makes no difference."""
    if drops_by_default(trace.snapshot, built.span):
        return "there is no dropout"
    return "activations are kept, though they are to be computed anew" if model.fields.get(CHECKPOINTED) is True else ""


def born_so(trace: Trace, built: Event, learns: Event, lacks: str) -> Finding:
    """What is said of a model that trains in the mode in which ``from_pretrained`` returned it."""
    files = trace.snapshot.contents
    span = meeting(learns, built, files)
    return Finding(
        "stuck-in-eval",
        Severity.ERROR,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` trains in evaluation mode, in which `from_pretrained` returned the model: nothing calls train(), {lacks}",
        (
            Evidence(visible(built, files), "the pretrained model comes in evaluation mode"),
            Evidence(span, "this training forward still runs in that mode: nothing has called train()"),
            *(Evidence(header, "it is called from here for training: train() belongs into this function") for header in _trains_from(trace, learns)),
        ),
    )


def _trains_from(trace: Trace, learns: Event) -> Iterator[Span]:
    """The header of the function that back-propagates what the forward gave, if it is another than that of the forward."""
    numbers = forward_numbers(learns)
    backward = next((event for event in trace.events(Kind.BACKWARD) if event.value.forwards & numbers), None)
    if backward is None or backward.context.function == learns.context.function or backward.span.path not in trace.snapshot.contents:
        return
    stands, source = around(trace.snapshot, backward.span), trace.snapshot.source(backward.span.path)
    if stands is not None and stands.function is not None and isinstance(source, SourceFile):
        yield Span(backward.span.path, source.span(stands.function).start, source.span(stands.function.body[0]).start)
