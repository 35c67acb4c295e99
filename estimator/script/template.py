"""The script of an estimate that names a model and no script: the plain loop its users would write, run like any other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from analysis.certainty import Assumed, Certainty, Known, Unknown
from estimator.catalog import Model
from estimator.config import TrainingConfig
from estimator.request import Request
from estimator.script.usage import Usage, own_numbers, usage_of, usual_edge, usual_length

#: The path under which the script stands in its snapshot.
PATH = "model.py"
_LINE = re.compile(rf"(?: \({re.escape(PATH)}:\d+\)|{re.escape(PATH)}:\d+(?:: )?)")
_TORCH = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "amp-bf16": "float32", "amp-fp16": "float32"}
_STORED = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
#: Rows taken in the open where no batch size is given.
BATCH = 1
#: Overrides that are made around a model, in a script as here.
_AROUND = frozenset({"optimizer", "checkpointing", "devices", "sharding", "attention"})


def around(request: Request) -> Request:
    """The request for running the script: what its text already holds is not asked for twice."""
    return replace(request, overrides={name: value for name, value in request.overrides.items() if name in _AROUND})


def _setting(request: Request, name: str, usual: Any, why: str) -> Certainty[Any]:
    given = request.overrides.get(name)
    return Assumed(usual, why) if given is None else Known(given)


def config_for(model: Model, request: Request) -> TrainingConfig:
    """What the script is asked to do; sizes and types that nobody gave are assumed."""
    usage = usage_of(model)
    length = request.context if request.generate else request.overrides.get("sequence_length")
    tokens = Assumed(usual_length(model), "no sequence length was given") if length is None else Known(length)
    return TrainingConfig(
        model=Known(model.name),
        batch_size=_setting(request, "batch_size", BATCH, "no batch size was given"),
        sequence_length=tokens if usage.takes_tokens else Unknown("the model takes no sequence of tokens"),
        image_size=_setting(request, "image_size", usual_edge(model), "no image size was given")
        if usage.takes_images
        else Unknown("the model takes no images"),
        precision=_setting(request, "precision", _STORED[model.dtype], "the precision that the weights are published in"),
        optimizer=_setting(request, "optimizer", "adamw", "no optimizer was given"),
        checkpointing=Known(bool(request.overrides.get("checkpointing", False))),
    )


def config_shown(asked: TrainingConfig, seen: TrainingConfig) -> TrainingConfig:
    """What the run showed; where it is what was assumed, the assumption. No line of the script is the user's."""
    shown: dict[str, Certainty[Any]] = {}
    for name, setting in seen.items():
        wanted = getattr(asked, name)
        if name == "model" or (isinstance(wanted, Assumed) and getattr(setting, "value", None) == wanted.value):
            shown[name] = wanted
        else:
            shown[name] = Unknown(setting.why) if isinstance(setting, Unknown) else Known(setting.value)
    return TrainingConfig(**shown)


def without_lines(sentences: Iterable[str]) -> Iterator[str]:
    """The sentences without the script's lines, which nobody has written."""
    return (_LINE.sub("", sentence) for sentence in sentences)


def script_for(model: Model, config: TrainingConfig, request: Request) -> str:
    """The text of the script."""
    value = {name: getattr(setting, "value", None) for name, setting in config.items()}
    precision, usage = str(value["precision"]), usage_of(model)
    numbers = {"name": model.name, "dtype": f"torch.{_TORCH.get(precision, 'float32')}", "batch": value["batch_size"]}
    numbers |= {"length": value["sequence_length"], "edge": value["image_size"]}
    numbers |= own_numbers(model, numbers)
    lines = ["import torch", *usage.builds, *usage.before, *_batch(usage)]
    context = f"torch.autocast('cuda', dtype=torch.{'bfloat16' if 'bf16' in precision else 'float16'}, enabled={precision.startswith('amp-')})"
    if request.generate and "input_ids" in usage.inputs:
        lines += ["model.eval()", f"with torch.no_grad(), {context}:", f"    model.generate(**batch, max_new_tokens={request.generate})"]
    elif request.inference or request.generate:
        lines += ["model.eval()", f"with torch.no_grad(), {context}:", "    for _ in range(2):", "        outputs = model(**batch)"]
    else:
        lines += _training(usage, context)
    return "\n".join(line if line.startswith("with ") else line.format(**numbers) for line in lines) + "\n"


def _batch(usage: Usage) -> list[str]:
    return ["batch = dict()", *(f"batch[{name!r}] = {line}" for name, line in usage.inputs.items())]


def _training(usage: Usage, context: str) -> list[str]:
    return [
        "model.train()",
        "optimizer = torch.optim.AdamW(model.parameters())",
        *(() if usage.labels is None else (f"batch['labels'] = {usage.labels}",)),
        "for step in range(2):",
        f"    with {context}:",
        *(f"        {line}" for line in usage.loss),
        "    loss.backward()",
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]
