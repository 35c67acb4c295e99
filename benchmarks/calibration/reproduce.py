"""Reference peaks made anew: a model as the libraries build it, two steps of training, the most that was allocated in the second."""

from __future__ import annotations

import contextlib
import gc
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kernels
import torch
import torch.cuda.amp.common
import torch.utils.checkpoint
import torchvision
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode
from tracker import Tracker

#: More than this share apart, a row is not reproduced.
_TOLERANCE = 0.001
_STORED = Path(__file__).parent.parent / "references" / "scripts.json"


@dataclass(frozen=True)
class Recipe:
    """How a row's model is built and trained. ``inputs``: shape and dtype by name; "x" and "y" go into a classifier and its loss."""

    build: Callable[[], Any]
    inputs: dict[str, tuple[tuple[int, ...], str]]
    optimizer: Callable[[Any], Any]
    amp: str | None = None
    dtype: str = "float32"
    checkpointing: bool = False


def _of_transformers(model: str, config: str, **numbers: Any) -> Callable[[], Any]:
    return lambda: getattr(transformers, model)(getattr(transformers, config)(**numbers))


def _adamw(parameters: Any) -> Any:
    return torch.optim.AdamW(parameters, foreach=True)


def _sgd(parameters: Any) -> Any:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, foreach=True)


_TEXTS = {"input_ids": ((8, 1024), "int64"), "labels": ((8, 1024), "int64")}
_GPT2 = _of_transformers("GPT2LMHeadModel", "GPT2Config")
RECIPES = {
    "gpt2_amp.py": Recipe(_GPT2, _TEXTS, _adamw, amp="bfloat16"),
    "gpt2_ckpt.py": Recipe(_GPT2, _TEXTS, _adamw, amp="bfloat16", checkpointing=True),
    "bert_amp512.py": Recipe(
        _of_transformers("BertForSequenceClassification", "BertConfig"), {"input_ids": ((16, 512), "int64"), "labels": ((16,), "int64")}, _adamw, amp="bfloat16"
    ),
    "rn50_amp.py": Recipe(torchvision.models.resnet50, {"x": ((128, 3, 224, 224), "float"), "y": ((128,), "int64")}, _adamw, amp="bfloat16"),
    "vgg16.py": Recipe(torchvision.models.vgg16, {"x": ((32, 3, 224, 224), "float"), "y": ((32,), "int64")}, _sgd),
}


def made_for_fakes() -> None:
    """Where libraries look at a device or at numbers that fakes do not have, what a real run would find."""
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda *_args, **_options: True
    torch.nn.functional.scaled_dot_product_attention = kernels.attention
    torch.nn.init.trunc_normal_ = lambda tensor, *_args, **_options: tensor
    for name in ("torch.optim.optimizer", "torch.optim.adam"):
        sys.modules[name]._get_value = lambda value: 2.0 if isinstance(value, torch.Tensor) else value
    torch.utils.checkpoint.get_device_states = lambda *_: ([], [])
    torch.utils.checkpoint.set_device_states = lambda *_args, **_options: None
    torch.utils.checkpoint._infer_device_type = lambda *_: "cuda"
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("transformers") and "is_tracing" in getattr(module, "__dict__", {}):
            module.__dict__["is_tracing"] = lambda *_args, **_options: False


def _batch(recipe: Recipe) -> dict[str, torch.Tensor]:
    dtype = getattr(torch, recipe.dtype)
    return {name: torch.empty(shape, dtype=dtype if kind == "float" else torch.int64, device="cuda") for name, (shape, kind) in recipe.inputs.items()}


def peak(recipe: Recipe) -> int:
    """Bytes allocated at the peak of two steps."""
    tracker = Tracker()
    with FakeTensorMode(allow_non_fake_inputs=True), tracker:
        with torch.device("cuda"):
            model = recipe.build()
        if recipe.checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False, "preserve_rng_state": False})
        model.train()
        gc.collect()
        optimizer = recipe.optimizer(model.parameters())
        outputs = loss = batch = None
        tracker.memory.peak_allocated = tracker.memory.allocated
        for _ in range(2):
            tracker.phase = "forward"
            batch = _batch(recipe)
            with torch.autocast("cuda", dtype=getattr(torch, recipe.amp)) if recipe.amp else contextlib.nullcontext():
                outputs = model(batch["x"]) if "x" in batch else model(**batch)
                loss = torch.nn.functional.cross_entropy(outputs, batch["y"]) if "x" in batch else outputs.loss
            tracker.phase = "backward"
            loss.backward()
            tracker.phase = "step"
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return tracker.memory.peak_allocated


def main(names: list[str]) -> int:
    """Make the rows named, all where none is; 1 if one differs from what is stored by more than a thousandth."""
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    made_for_fakes()
    stored = {row["script"]: row["allocated"] for row in json.loads(_STORED.read_text(encoding="utf-8"))["rows"]}
    wrong = 0
    for name in names or list(RECIPES):
        found = peak(RECIPES[name])
        error = found / stored[name] - 1
        wrong += abs(error) > _TOLERANCE
        print(f"{name:18} {found:>14,} stored {stored[name]:>14,} {error:+.3%}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
