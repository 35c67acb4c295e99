"""The scripts behind published measurements, written anew from their descriptions: one text for each row of ``references/published.json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Row = Mapping[str, Any]

#: Grouped heads are expanded by hand, since the memory-efficient kernel takes none: what the measured program does as well.
_EXPANDED_HEADS = """
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

original = F.scaled_dot_product_attention

def expanded(query, key, value, *args, **kwargs):
    if key.size(-3) != query.size(-3):
        groups = query.size(-3) // key.size(-3)
        key = key.repeat_interleave(groups, dim=-3)
        value = value.repeat_interleave(groups, dim=-3)
        kwargs.pop("enable_gqa", None)
    return original(query, key, value, *args, **kwargs)

F.scaled_dot_product_attention = expanded
"""
_LORA = """
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
{before}
model = AutoModelForCausalLM.from_pretrained({model!r}, dtype=torch.float16, attn_implementation={attention!r}{quantization})
{placed}
model.config.use_cache = False
{prepared}
targets = {targets!r}
model = get_peft_model(model, LoraConfig(r={rank}, lora_alpha=2 * {rank}, bias="none", task_type="CAUSAL_LM", target_modules=targets))
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={{"use_reentrant": False}})
model.enable_input_require_grads()
model.train()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
batch = torch.randint(0, 32000, ({batch}, {length}), device="cuda", dtype=torch.long)
for _ in range(2):
    optimizer.zero_grad(set_to_none=True)
    {context}:
        out = model(input_ids=batch, labels=batch)
        out.loss.backward()
    optimizer.step()
    del out
"""
_AMP_TEXT = """
import torch
from transformers import AutoModel, AutoModelForCausalLM

model = {auto}.from_pretrained({model!r}).cuda()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
ids = torch.randint(0, 30000, ({batch_size}, {seq_len}), device="cuda")

def step():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = model(input_ids=ids{labels})
        loss = {loss}
    loss.backward()
    optimizer.step()

for _ in range(2):
    step()
"""
_AMP_IMAGES = """
import torch
import torchvision

model = torchvision.models.{model}().cuda()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn({batch_size}, 3, {image_size}, {image_size}, device="cuda")
target = torch.randint(0, 1000, ({batch_size},), device="cuda")

def step():
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(x), target)
    loss.backward()
    optimizer.step()

for _ in range(2):
    step()
"""
_TABLE = """
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

model = {auto}.from_pretrained({model!r}, dtype=torch.float16, attn_implementation={attention!r}).cuda()
ids = torch.randint(0, 30000, ({batch}, {length}), device="cuda")
{steps}
"""
_FORWARD = "model.eval()\nwith torch.no_grad():\n    for _ in range(2):\n        model(input_ids=ids)"
_BACKWARD = "model.train()\nfor _ in range(2):\n    model.zero_grad()\n    loss = model(input_ids=ids, labels=ids).loss\n    loss.backward()"


def _lora(row: Row) -> str:
    packed, efficient = row["quantization"] == "nf4", row["attention"] == "efficient"
    config = f"load_in_4bit=True, bnb_4bit_quant_type='nf4', bnb_4bit_compute_dtype=torch.float16, bnb_4bit_use_double_quant={row['nested']}"
    return _LORA.format(
        before=_EXPANDED_HEADS if efficient else "",
        model=row["model"],
        attention="sdpa" if efficient else "eager",
        quantization=f", device_map={{'': 0}}, quantization_config=BitsAndBytesConfig({config})" if packed else "",
        placed="" if packed else "model = model.cuda()",
        prepared="model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=True)" if packed else "",
        context="with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION])" if efficient else "if True",
        **{name: row[name] for name in ("targets", "rank", "batch", "length")},
    )


def _amp(row: Row) -> str:
    if "image_size" in row:
        return _AMP_IMAGES.format(**row)
    causal = row["model"] == "gpt2"
    loss = "out.loss" if causal else "out.last_hidden_state.float().pow(2).mean()"
    return _AMP_TEXT.format(auto="AutoModelForCausalLM" if causal else "AutoModel", labels=", labels=ids" if causal else "", loss=loss, **row)


def _table(row: Row) -> str:
    auto = "AutoModelForMaskedLM" if "bert" in row["model"] else "AutoModelForCausalLM"
    return _TABLE.format(auto=auto, steps=_FORWARD if row["mode"] == "inference" else _BACKWARD, **row)


_HARNESSES: Mapping[str, Callable[[Row], str]] = {"lora": _lora, "amp": _amp, "sdpa-table": _table}


def script_of(row: Row) -> str:
    """The script of a row whose ``harness`` is known. Raises ``KeyError`` for another."""
    return _HARNESSES[row["harness"]](row)
