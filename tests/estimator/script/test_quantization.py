"""Weights in 4 and 8 bits under LoRA: against what was measured on a T4, and in what each way of writing it holds."""

from __future__ import annotations

from functools import cache

import pytest

from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate

MIB = 2**20
SCRIPT = """
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

model = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-135M", dtype=torch.float16, attn_implementation="eager"{options})
model.config.use_cache = False
model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=True)
model = get_peft_model(model, LoraConfig(r=32, lora_alpha=64, task_type="CAUSAL_LM", target_modules=["q_proj", "k_proj", "v_proj", "o_proj"]))
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={{"use_reentrant": False}})
model.enable_input_require_grads()
model.train()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
batch = torch.randint(0, 32000, (2, 512), device="cuda")
for _ in range(2):
    optimizer.zero_grad(set_to_none=True)
    out = model(input_ids=batch, labels=batch)
    out.loss.backward()
    optimizer.step()
"""
FOUR_BITS = (
    ", quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type='nf4', "
    "bnb_4bit_compute_dtype=torch.float16, bnb_4bit_use_double_quant={nested})"
)
#: Linear layers of SmolLM2-135M that are packed: 30 layers of four projections and three products of the feed-forward part.
PACKED = 30 * (576 * 576 * 2 + 576 * 192 * 2 + 3 * 576 * 1536)


@cache
def estimated(options: str):
    [found] = estimate(Snapshot.of({"train.py": SCRIPT.format(options=options).encode()}), Request(entry="train.py", gpus=("T4",)))
    return found


def test_nf4_is_what_a_t4_measured():
    """Measured: fitcheck-llm 0.3.1 (PyPI), data/measurements/t4-sweep-2026-09-15.json; torch 2.14.0, transformers 5.17.0, bitsandbytes 0.50."""
    found = estimated(FOUR_BITS.format(nested=False))
    assert found.memory.allocated_bytes / MIB == pytest.approx(1067.19, rel=0.01)
    assert found.config.quantization.value == "nf4"
    assert found.unknowns == ()


def test_parameters_are_counted_as_the_model_has_them():
    found = estimated(FOUR_BITS.format(nested=False))
    adapters = 30 * 32 * (2 * (576 + 576) + 2 * (576 + 192))
    assert (found.memory.parameters, found.memory.trainable_parameters) == (134_515_008 + adapters, adapters)


def test_scales_that_are_packed_too_take_a_quarter_of_the_memory():
    plain, nested = (estimated(FOUR_BITS.format(nested=nested)).memory for nested in (False, True))
    blocks = PACKED // 64
    saved = plain.phases[-1][1] - nested.phases[-1][1]
    assert saved == pytest.approx(3 * blocks, rel=0.1)


@pytest.mark.parametrize("options", [", load_in_8bit=True", ", quantization_config={'load_in_8bit': True}"])
def test_eight_bits_are_a_byte_a_weight(options):
    found = estimated(options)
    assert found.config.quantization.value == "int8"
    whole = 134_515_008 - PACKED
    adapters = found.memory.trainable_parameters
    assert found.memory.components.parameters == pytest.approx(PACKED + 4 * (whole + adapters), rel=0.01)


def test_another_quantization_is_not_taken_for_none():
    found = estimated(", quantization_config=GPTQConfig(bits=4)")
    assert found.memory is None
