"""What stands around models that Accelerate places: its state alone, layers of FP8 libraries in the place of PyTorch's, forwards that are bound anew."""

from __future__ import annotations

from analysis.certainty import Assumed
from tests.estimator.script.running import estimated

SHARES = """
import torch
from accelerate import PartialState
from transformers import AutoModelForCausalLM, AutoTokenizer
state = PartialState()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", device_map=state.device)
batches = [tokenizer(["a text"] * rows, max_length=64, padding="max_length", return_tensors="pt") for rows in (3, 2, 1)]
with state.split_between_processes(batches, apply_padding=True) as mine:
    for batch in mine:
        made = model.generate(**batch.to(state.device), max_new_tokens=20)
"""


def test_a_process_takes_its_share():
    found = estimated(SHARES)
    assert found.mode.value == "generation"
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (3, 64)


REPLACED = """
import torch
import transformer_engine.pytorch as te
from accelerate import Accelerator
from accelerate.utils import extract_model_from_parallel
from accelerate.utils.transformer_engine import convert_model
from torch import nn
from transformer_engine.common.recipe import DelayedScaling, Format

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64))
        self.outer = nn.Linear(64, 10)

    def forward(self, x):
        return self.outer(self.inner(x))

accelerator = Accelerator()
model = Net()
optimizer = torch.optim.AdamW(model.parameters())
before = dict(extract_model_from_parallel(model).named_parameters())
with torch.no_grad():
    convert_model(model)
model.to("cuda")
assert isinstance(model.inner[0], te.Linear) and not isinstance(model.outer, te.Linear)
after = dict(extract_model_from_parallel(model).named_parameters())
places = {parameter: after[name] for name, parameter in before.items()}
for group in optimizer.param_groups:
    group["params"] = [places[parameter] for parameter in group["params"]]
for _ in range(2):
    with te.fp8_autocast(enabled=True, fp8_recipe=DelayedScaling(fp8_format=Format.HYBRID)), torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(torch.zeros(32, 64, device="cuda")).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_layers_of_fp8_are_taken_in_the_open_for_layers_of_sixteen_bits():
    found = estimated(REPLACED)
    assert found.unknowns == ()
    assert found.memory.parameters == found.memory.trainable_parameters == 64 * 64 + 64 + 128 + 640 + 10
    assert isinstance(found.config.precision, Assumed)
    assert found.config.precision.value == "amp-bf16"


SMALL = """
import torch
from types import MethodType
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = nn.Linear(64, 10)

    def forward(self, x):
        return self.outer(x)
"""
BOUND = (
    SMALL
    + """
from accelerate.utils import convert_outputs_to_fp32
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

model = Net().cuda()
fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
model.forward = MethodType(convert_outputs_to_fp32(model.forward.__func__), model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    made = model(torch.zeros(32, 64, device="cuda"))
    assert made.dtype == torch.float32
    made.sum().backward()
    optimizer.step()
"""
)


def test_a_forward_that_was_wrapped_can_be_bound_anew():
    found = estimated(BOUND, overrides={"devices": 2})
    assert found.memory.parameters == 650
    assert found.config.batch_size.value == 32


METHODS = (
    SMALL
    + """
def twice(owner, x):
    return owner.outer(x) + owner.outer(x)

model = Net().cuda()
assert isinstance(model.forward, MethodType)
model.forward = MethodType(twice, model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.zeros(32, 64, device="cuda")).sum().backward()
optimizer.step()
"""
)


def test_a_function_that_is_bound_is_a_method():
    found = estimated(METHODS)
    assert found.unknowns == ()
    assert found.memory.parameters == 650
