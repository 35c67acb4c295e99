"""The optimizer calls a closure; the loss holds a derivative taken with ``autograd.grad``."""

import torch
from torch import nn


def slope(net, x):
    x = x.requires_grad_(True)
    (dx,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    return dx.square().mean()


def solve(rounds=60):
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=10)
    x = torch.linspace(0, 1, 32).unsqueeze(1)

    def evaluate():
        optimizer.zero_grad()
        loss = slope(net, x) + net(x).abs().mean()
        loss.backward()
        return loss

    for _ in range(rounds):
        optimizer.step(evaluate)
