"""A step every few batches, and one for the tail."""

import torch
from torch.utils.data import DataLoader


def train(model, dataset, every=3, epochs=2):
    loader = DataLoader(dataset, batch_size=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    last = len(loader) - 1
    for _ in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(model(x), y) / every).backward()
            if (i + 1) % every == 0 or i == last:
                optimizer.step()
                optimizer.zero_grad()
