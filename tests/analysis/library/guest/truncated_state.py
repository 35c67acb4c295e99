"""The hidden state is cut off at each window; one loss inside a window is summed on purpose."""

import torch
from torch import nn


def cut(state):
    return tuple(each.detach() for each in state) if isinstance(state, tuple) else state.detach()


def train(recurrent: nn.Module, decoder: nn.Module, text, window=20):
    both = nn.ModuleList([recurrent, decoder])
    optimizer = torch.optim.SGD(both.parameters(), lr=1.0)
    state = (torch.zeros(1, 4, 8), torch.zeros(1, 4, 8))
    total = torch.zeros(())
    for start in range(0, text.shape[0] - window, window):
        state = cut(state)
        optimizer.zero_grad()
        output, state = recurrent(text[start : start + window], state)
        loss = nn.functional.cross_entropy(decoder(output), text[start + 1 : start + window + 1])
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item()
