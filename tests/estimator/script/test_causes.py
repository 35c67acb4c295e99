"""What widens an interval is named and worked out: padding by a second run, a library's hold on results by what is let go."""

from __future__ import annotations

from tests.estimator.script.running import estimated

TRAINED = """
import torch
from transformers import {model}
model = {model}.from_pretrained("{name}").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    ids = torch.zeros((4, 128), dtype=torch.long, device="cuda")
    loss = model(input_ids=ids, {mask}labels={labels}).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def trained(mask: str):
    return estimated(TRAINED.format(model="T5ForConditionalGeneration", name="t5-small", labels="ids", mask=mask)).memory


def test_a_mask_widens_the_interval_by_what_a_padded_batch_takes():
    plain, masked = trained(""), trained("attention_mask=torch.ones_like(ids), ")
    # A mask over every pair of places in every head is kept for each of the six layers of the encoder.
    of_masks = 6 * 4 * 8 * 128 * 128 * 4
    assert masked.allocated_interval.high - plain.allocated_interval.high > of_masks
    assert masked.allocated_interval.low <= plain.allocated_bytes


ACCELERATED = """
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM
accelerator = Accelerator(mixed_precision="bf16")
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(10):
    ids = torch.zeros((4, 256), dtype=torch.long, device="cuda")
    {loss}
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
"""


def test_results_that_are_let_go_before_backward_may_be_held_by_the_library():
    memory = estimated(ACCELERATED.format(loss="loss = model(input_ids=ids, labels=ids).loss")).memory
    logits = 4 * 256 * 50257 * 2
    assert memory.allocated_interval.high - memory.allocated_bytes > logits


def test_training_may_do_without_a_cache_of_keys_and_values():
    text = TRAINED.format(model="GPT2LMHeadModel", name="gpt2", labels="ids", mask="").replace("(4, 128)", "(16, 512)")
    found, without = estimated(text).memory, estimated(text, overrides={"use_cache": False}).memory
    assert without.allocated_bytes < found.allocated_bytes
    assert found.allocated_interval.low < 0.975 * without.allocated_bytes * 1.001
