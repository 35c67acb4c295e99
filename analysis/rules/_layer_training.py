"""The loop around one layer that the examples of rules about losses share: only what is between scores and loss differs. No rule itself."""

from __future__ import annotations

_PROGRAM = """
import torch
import torch.nn.functional as F

def train(loader):
    net = torch.nn.Linear(8, {outputs})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
{body}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def layer_training(*lines: str, outputs: int = 3) -> str:
    """A program that trains a layer on batches ``x`` (samples, 8) and ``y``; ``lines`` make its ``loss`` of ``net(x)`` (samples, outputs)."""
    return _PROGRAM.format(outputs=outputs, body="\n".join(f"        {line}" for line in lines))
