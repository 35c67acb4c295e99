"""Pretrained models whose layers drop values in training: ``from_pretrained`` returns them in evaluation mode. Shared by rules, and no rule itself.

Facts from the configuration classes of Transformers: BERT and its kin, GPT-2, T5, BART and wav2vec 2.0 drop a tenth of their activations by default; Llama,
Mistral, Qwen, Gemma, ViT and Whisper drop none, so that their mode makes no difference to a plain training step.
"""

from __future__ import annotations

import ast

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event
from analysis.trace.places import visible
from analysis.trace.reading import call_at, callee, text

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


def born_so(trace: Trace, built: Event, learns: Event) -> Finding:
    """What is said of a model that trains in the mode in which ``from_pretrained`` returned it."""
    files = trace.snapshot.contents
    span = visible(learns, files)
    return Finding(
        "stuck-in-eval",
        Severity.ERROR,
        Confidence.HIGH,
        span,
        f"`{text(trace.snapshot, span)}` trains in evaluation mode, in which `from_pretrained` returned the model: nothing calls train(), there is no dropout",
        (
            Evidence(visible(built, files), "the pretrained model comes in evaluation mode"),
            Evidence(span, "this training forward still runs in that mode: nothing has called train()"),
        ),
    )
