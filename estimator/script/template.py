"""The script of an estimate that names a model and no script: the plain loop its users would write, run like any other."""

from __future__ import annotations

from typing import Any

from analysis.certainty import Assumed, Certainty, Known
from estimator.catalog import Model
from estimator.config import TrainingConfig
from estimator.request import Request

#: The path under which the script stands in its snapshot.
PATH = "<model>.py"
_TORCH = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "amp-bf16": "float32", "amp-fp16": "float32"}
_STORED = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
_OPTIMIZERS = {
    "adamw": "AdamW(model.parameters())", "adamw-fused": "AdamW(model.parameters(), fused=True)", "adam": "Adam(model.parameters())",
    "sgd": "SGD(model.parameters(), lr=0.1)", "sgd-momentum": "SGD(model.parameters(), lr=0.1, momentum=0.9)", "adafactor": "Adafactor(model.parameters())",
    "lion": "Lion(model.parameters())", "rmsprop": "RMSprop(model.parameters())",
}  # fmt: skip
#: Sizes taken in the open where none is given.
BATCH, LENGTH, EDGE = 1, 1024, 224


def _setting(request: Request, name: str, usual: Any, why: str) -> Certainty[Any]:
    given = request.overrides.get(name)
    return Assumed(usual, why) if given is None else Known(given)


def config_for(model: Model, request: Request) -> TrainingConfig:
    """What the script will be configured to do."""
    vision = model.family == "resnet"
    return TrainingConfig(
        model=Known(model.name),
        batch_size=_setting(request, "batch_size", BATCH, "no batch size was given"),
        sequence_length=Known(0) if vision else _setting(request, "sequence_length", LENGTH, "no sequence length was given"),
        image_size=_setting(request, "image_size", EDGE, "no image size was given") if vision else Known(0),
        precision=_setting(request, "precision", _STORED[model.dtype], "the precision that the weights are published in"),
        optimizer=_setting(request, "optimizer", "adamw", "no optimizer was given"),
        checkpointing=Known(bool(request.overrides.get("checkpointing", False))),
        attention=Known(request.overrides.get("attention", "sdpa")),
        devices=Known(request.overrides.get("devices", 1)),
        sharding=Known(request.overrides.get("sharding", "none")),
    )


def script_for(model: Model, config: TrainingConfig, request: Request) -> str:
    """The text of the script."""
    value = {name: getattr(setting, "value", None) for name, setting in config.items()}
    lines = ["import torch", *_construction(model, value), *_inputs(model, value)]
    precision = str(value["precision"])
    context = f"torch.autocast('cuda', dtype=torch.{'bfloat16' if 'bf16' in precision else 'float16'}, enabled={precision.startswith('amp-')})"
    if request.inference or request.generate:
        lines += ["model.eval()", f"with torch.no_grad(), {context}:", "    for _ in range(2):", "        outputs = model(**batch)"]
        return "\n".join(lines) + "\n"
    lines += [
        "model.train()",
        f"optimizer = torch.optim.{_OPTIMIZERS.get(str(value['optimizer']), _OPTIMIZERS['adamw'])}",
        "for step in range(2):",
        f"    with {context}:",
        *(f"        {line}" for line in _loss(model)),
        "    loss.backward()",
        "    optimizer.step()",
        "    optimizer.zero_grad()",
    ]
    return "\n".join(lines) + "\n"


def _construction(model: Model, value: dict[str, Any]) -> list[str]:
    if model.family == "resnet":
        return ["import torchvision", f"model = torchvision.models.get_model({model.name!r}).to(torch.{_TORCH[value['precision']]}).cuda()"]
    auto = "AutoModelForMaskedLM" if model.family in {"bert", "roberta"} else "AutoModelForCausalLM"
    attention = "eager" if value["attention"] == "eager" else "sdpa"
    lines = [
        f"from transformers import {auto}",
        f"model = {auto}.from_pretrained({model.name!r}, dtype=torch.{_TORCH[value['precision']]}, attn_implementation={attention!r}).cuda()",
    ]
    return [*lines, "model.gradient_checkpointing_enable()"] if value["checkpointing"] else lines


def _inputs(model: Model, value: dict[str, Any]) -> list[str]:
    batch = value["batch_size"]
    if model.family == "resnet":
        edge = value["image_size"]
        return [
            f"batch = {{'x': torch.randn({batch}, 3, {edge}, {edge}, dtype=torch.{_TORCH[value['precision']]}, device='cuda')}}",
            f"target = torch.zeros({batch}, dtype=torch.int64, device='cuda')",
        ]
    return [f"batch = {{'input_ids': torch.zeros({batch}, {value['sequence_length']}, dtype=torch.int64, device='cuda')}}"]


def _loss(model: Model) -> list[str]:
    if model.family == "resnet":
        return ["outputs = model(**batch)", "loss = torch.nn.functional.cross_entropy(outputs, target)"]
    return ["outputs = model(**batch, labels=batch['input_ids'])", "loss = outputs.loss"]
