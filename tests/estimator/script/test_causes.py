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
    below, above = (masked.allocated_interval.high - masked.allocated_bytes, plain.allocated_interval.high - plain.allocated_bytes)
    # A mask over every pair of places in every head is kept for each of the layers: far more than the usual two in a hundred.
    assert below > 2 * above
    assert masked.allocated_interval.low <= plain.allocated_bytes * 1.01


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
    gone = estimated(ACCELERATED.format(loss="loss = model(input_ids=ids, labels=ids).loss")).memory
    logits = 4 * 256 * 50257 * 2
    above = gone.allocated_interval.high - gone.allocated_bytes
    assert logits * 0.9 < above < logits * 1.2 + 0.01 * gone.allocated_bytes
