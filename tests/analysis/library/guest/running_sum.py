"""Sums and lists that keep graphs, and one that does not."""

import torch


class Meter:
    def __init__(self):
        self.total = 0

    def update(self, value):
        self.total += value


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    meter, history, running, plain = Meter(), [], 0.0, 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        meter.update(loss)
        history.append(loss)
        running = running + loss
        plain += loss.item()
    return meter.total
