"""Fake quantization, environments and their distributions, and policies that say which modules are run anew in backward."""

from __future__ import annotations

from tests.estimator.script.running import estimated

QUANTIZED = """
import torch
from torch import nn
{above}

model = nn.Sequential(nn.Linear(1024, 1024, bias=False), nn.ReLU(), nn.Linear(1024, 1024, bias=False)).to(torch.bfloat16).cuda()
{prepare}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    model(torch.zeros(8, 1024, dtype=torch.bfloat16, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_rounded_weights_are_kept_beside_their_own():
    plain = estimated(QUANTIZED.format(above="", prepare="")).memory
    quantizer = "from torchao.quantization.qat import Int8DynActInt4WeightQATQuantizer"
    rounded = estimated(QUANTIZED.format(above=quantizer, prepare="model = Int8DynActInt4WeightQATQuantizer(groupsize=256).prepare(model)")).memory
    assert rounded.parameters == plain.parameters == 2 * 1024 * 1024
    assert rounded.components.parameters == plain.components.parameters
    kept = 2 * 1024 * 1024 * (4 + 2)  # of each weight what clamp keeps, in float32, and the rounded weight in bfloat16
    assert kept < rounded.allocated_bytes - plain.allocated_bytes < 2.5 * kept


AGENT = """
import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical

env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(env.observation_space.shape[0], 128), nn.ReLU(), nn.Linear(128, env.action_space.n), nn.Softmax(-1)).cuda()
optimizer = torch.optim.Adam(policy.parameters())
for _ in range(10):
    state, _ = env.reset(seed=1)
    losses = []
    for _ in range(5):
        choice = Categorical(policy(torch.from_numpy(state).float().unsqueeze(0).cuda()))
        action = choice.sample()
        losses.append(-choice.log_prob(action))
        state, reward, terminated, truncated, _ = env.step(action.item())
    torch.cat(losses).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_an_environments_spaces_are_known():
    found = estimated(AGENT)
    assert found.memory.parameters == 4 * 128 + 128 + 128 * 2 + 2
    assert found.config.batch_size.value == 1


POLICY = """
import functools
import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing
from torch.distributed.fsdp.wrap import ModuleWrapPolicy, transformer_auto_wrap_policy

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 4096), nn.Linear(4096, 64)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))

model = nn.Sequential(*[Block() for _ in range(8)]).cuda()
{wrap}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    model(torch.zeros(256, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_modules_that_a_policy_names_are_run_anew():
    plain = estimated(POLICY.format(wrap=""))
    for policy in ("ModuleWrapPolicy({Block})", "functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})"):
        found = estimated(POLICY.format(wrap=f"apply_activation_checkpointing(model, auto_wrap_policy={policy})"))
        assert found.config.checkpointing.value is True
        assert found.memory.components.activations < plain.memory.components.activations / 4
