"""Gradients are cleared once an epoch, used once a batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

inputs = torch.randn(600, 5)
targets = inputs.sum(dim=1, keepdim=True)
network = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 1))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=30, shuffle=True)

for epoch in range(12):
    optimizer.zero_grad()
    for x, y in loader:
        loss = nn.functional.l1_loss(network(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, float(loss))
