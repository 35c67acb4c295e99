"""The guard on ten live models: what it says of activations and peaks beside a recorded reference, and whether it left everything as it was.

usage: python benchmarks/guard.py [NAME…]

Needs PyTorch, torchvision and transformers; no GPU. ``guard.json`` holds the reference: the same forward and backward by PyTorch's own engine on
fake CUDA tensors, every storage's birth and death recorded, without the matrix library's workspaces.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torchvision.models
import transformers

from estimator import check_vram
from estimator.kernels import workspace_bytes

_REFERENCE = Path(__file__).with_name("guard.json")
_GENERATION = 80


def _of_transformers(model: str, config: str, **numbers: Any) -> Callable[[], Any]:
    return lambda: getattr(transformers, model)(getattr(transformers, config)(**numbers))


def _tokens(batch: int, length: int) -> torch.Tensor:
    return torch.zeros(batch, length, dtype=torch.long)


def _perceptron() -> Any:
    layers = torch.nn
    return layers.Sequential(
        layers.Linear(784, 4096), layers.ReLU(), layers.Dropout(0.1), layers.Linear(4096, 4096), layers.GELU(), layers.Linear(4096, 10)
    )  # fmt: skip


_TEXTS = {"input_ids": _tokens(4, 256), "labels": _tokens(4, 256)}
_SMALL_LLAMA = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2}
#: Name to how the model is built, a batch of it, the precision, and whether it checkpoints.
_MODELS: dict[str, tuple[Callable[[], Any], Any, str | None, bool]] = {
    "gpt2": (_of_transformers("GPT2LMHeadModel", "GPT2Config", n_layer=4), _TEXTS, "amp-bf16", False),
    "gpt2-checkpointed": (_of_transformers("GPT2LMHeadModel", "GPT2Config", n_layer=4), _TEXTS, "amp-bf16", True),
    "bert": (
        _of_transformers("BertForSequenceClassification", "BertConfig", num_hidden_layers=4),
        {"input_ids": _tokens(8, 256), "labels": torch.zeros(8, dtype=torch.long)}, None, False,
    ),
    "llama": (_of_transformers("LlamaForCausalLM", "LlamaConfig", **_SMALL_LLAMA), _TEXTS, "amp-bf16", False),
    "t5": (
        _of_transformers("T5ForConditionalGeneration", "T5Config", decoder_start_token_id=0),
        {"input_ids": _tokens(4, 256), "labels": _tokens(4, 64)}, "amp-bf16", False,
    ),
    "vit": (
        _of_transformers("ViTForImageClassification", "ViTConfig", num_hidden_layers=4),
        {"pixel_values": torch.zeros(8, 3, 224, 224), "labels": torch.zeros(8, dtype=torch.long)}, None, False,
    ),
    "resnet50": (torchvision.models.resnet50, torch.zeros(8, 3, 224, 224), "amp-bf16", False),
    "densenet121": (torchvision.models.densenet121, torch.zeros(8, 3, 128, 128), None, False),
    "convnext": (torchvision.models.convnext_tiny, torch.zeros(8, 3, 128, 128), "amp-bf16", False),
    "perceptron": (_perceptron, torch.zeros(4096, 784), None, False),
}  # fmt: skip


def _left_alone(model: Any, states: dict[str, torch.Tensor], random: torch.Tensor) -> bool:
    """Whether the model's numbers and the random state are what they were, to the bit."""
    same = all(torch.equal(states[name], value) for name, value in model.state_dict().items())
    return same and torch.equal(random, torch.get_rng_state())


def _one(name: str, reference: dict[str, int]) -> tuple[float, float, bool]:
    """Errors of activations and of the peak without optimizer state, and whether everything was left alone."""
    build, batch, precision, checkpointed = _MODELS[name]
    model = build().train()
    if checkpointed:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    states = {key: value.clone() for key, value in model.state_dict().items()}
    random = torch.get_rng_state()
    found = check_vram(model, torch.optim.AdamW(model.parameters()), batch, precision=precision, device="A100-80GB").measured
    peak = found.allocated - found.optimizer_state - 2 * workspace_bytes(_GENERATION)
    return found.activations / reference["activations"] - 1, peak / reference["peak"] - 1, _left_alone(model, states, random)


def main(names: list[str]) -> int:
    """Print the table; 1 if activations are off by more than three per cent anywhere, or something was changed."""
    reference = json.loads(_REFERENCE.read_text(encoding="utf-8"))["models"]
    wrong = 0
    for name in names or list(_MODELS):
        activations, peak, alone = _one(name, reference[name])
        wrong += abs(activations) > 0.03 or not alone  # noqa: PLR2004
        print(f"{name:20} activations {activations:+7.2%}   peak {peak:+7.2%}   {'left alone' if alone else 'CHANGED'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
