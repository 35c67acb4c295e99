"""Loops that are cut short: what grows in them is as large in the end as the loop says, and a graph is followed round by round."""

from __future__ import annotations

from tests.estimator.script.running import estimated

GENERATION = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(1000, 64), nn.Linear(64, 1000)

    def forward(self, tokens):
        return self.head(self.embedding(tokens))

net = Net().cuda()
tokens = torch.zeros(4, 10, dtype=torch.long, device="cuda")
with torch.no_grad():
    for _ in range(ROUNDS):
        following = net(tokens)[:, -1:].argmax(-1)
        tokens = torch.cat([tokens, following], dim=1)
"""
UNROLLED = """
import torch
from torch import nn

cell = nn.GRUCell(100, 100).cuda()
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(10):
    state, outputs = torch.zeros(64, 100, device="cuda"), []
    for _ in range(ROUNDS):
        state = cell(torch.zeros(64, 100, device="cuda"), state)
        outputs.append(state)
    torch.stack(outputs).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def of(script, rounds):
    return estimated(script.replace("ROUNDS", str(rounds))).memory.components


def test_a_sequence_is_as_long_as_the_loop_makes_it():
    few, many = of(GENERATION, 10), of(GENERATION, 1010)
    grown = 4 * 1000 * (1000 + 64) * 4  # rows × more tokens × (logits + embeddings) × bytes
    assert abs(many.activations - few.activations - grown) < grown * 0.05


def test_the_graph_of_an_unrolled_cell_grows_with_every_round():
    few, many = of(UNROLLED, 10), of(UNROLLED, 40)
    assert 3.5 < many.activations / few.activations < 4.5


CACHED = """
import torch
from torch import nn

encoder, net = nn.Linear(64, 32).cuda(), nn.Linear(32, 8).cuda()
data = torch.utils.data.TensorDataset(torch.zeros(512, 64))
loader = torch.utils.data.DataLoader(data, batch_size=16)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
codes = []
for (x,) in loader:
    with torch.no_grad():
        codes.append(encoder(x.cuda()))
for step, (x,) in enumerate(loader):
    net(codes[step]).sum().backward()
    if (step + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
"""


def test_what_was_gathered_from_every_batch_is_there_for_every_batch():
    found = estimated(CACHED)
    assert found.config.batch_size.value == 16
    assert any("gathers from batch to batch" in sentence for sentence in found.unknowns)
