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

#: The path under which the script stands in its snapshot.
PATH = "model.py"
_LINE = re.compile(rf"(?: \({re.escape(PATH)}:\d+\)|{re.escape(PATH)}:\d+(?:: )?)")
_TORCH = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "amp-bf16": "float32", "amp-fp16": "float32"}
_STORED = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
#: Sizes taken in the open where none is given; the length by what the family's positions allow.
BATCH, EDGE = 1, 224
LENGTH, _LENGTHS = 1024, {"bert": 512, "roberta": 512, "distilbert": 512}
_VISION = frozenset({"resnet", "vgg"})
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
    vision = model.family in _VISION
    length = request.context if request.generate else request.overrides.get("sequence_length")
    return TrainingConfig(
        model=Known(model.name),
        batch_size=_setting(request, "batch_size", BATCH, "no batch size was given"),
        sequence_length=Unknown("the model takes images")
        if vision
        else (Assumed(_LENGTHS.get(model.family, LENGTH), "no sequence length was given") if length is None else Known(length)),
        image_size=_setting(request, "image_size", EDGE, "no image size was given") if vision else Unknown("the model takes tokens"),
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
    lines = ["import torch", *_construction(model, value), *_inputs(model, value)]
    precision = str(value["precision"])
    context = f"torch.autocast('cuda', dtype=torch.{'bfloat16' if 'bf16' in precision else 'float16'}, enabled={precision.startswith('amp-')})"
    if request.generate and model.family not in _VISION:
        lines += ["model.eval()", f"with torch.no_grad(), {context}:", f"    model.generate(**batch, max_new_tokens={request.generate})"]
    elif request.inference or request.generate:
        lines += ["model.eval()", f"with torch.no_grad(), {context}:", "    for _ in range(2):", "        outputs = model(**batch)"]
    else:
        lines += _training(model, context)
    return "\n".join(lines) + "\n"


def _training(model: Model, context: str) -> list[str]:
    return [
        "model.train()",
        "optimizer = torch.optim.AdamW(model.parameters())",
        "for step in range(2):",
        f"    with {context}:",
        *(f"        {line}" for line in _loss(model)),
        "    loss.backward()",
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]


def _construction(model: Model, value: dict[str, Any]) -> list[str]:
    dtype = f"torch.{_TORCH.get(value['precision'], 'float32')}"
    if model.family in _VISION:
        return ["import torchvision", f"model = torchvision.models.get_model({model.name!r}).to({dtype}).cuda()"]
    auto = "AutoModelForMaskedLM" if model.family in _LENGTHS else "AutoModelForCausalLM"
    return [f"from transformers import {auto}", f"model = {auto}.from_pretrained({model.name!r}, dtype={dtype}).cuda()"]


def _inputs(model: Model, value: dict[str, Any]) -> list[str]:
    batch = value["batch_size"]
    if model.family in _VISION:
        edge, dtype = value["image_size"], _TORCH.get(value["precision"], "float32")
        return [
            f"batch = {{'x': torch.randn({batch}, 3, {edge}, {edge}, dtype=torch.{dtype}, device='cuda')}}",
            f"target = torch.zeros({batch}, dtype=torch.int64, device='cuda')",
        ]
    return [f"batch = {{'input_ids': torch.zeros({batch}, {value['sequence_length']}, dtype=torch.int64, device='cuda')}}"]


def _loss(model: Model) -> list[str]:
    if model.family in _VISION:
        return ["outputs = model(**batch)", "loss = torch.nn.functional.cross_entropy(outputs, target)"]
    return ["outputs = model(**batch, labels=batch['input_ids'])", "loss = outputs.loss"]
