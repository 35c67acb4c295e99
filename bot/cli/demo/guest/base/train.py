"""Train the GPT of model.py."""

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from data import Windows
from model import GPT

BATCH_SIZE = 8
EPOCHS = 10


def step(model, tokens, targets):
    logits = model(tokens)
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def main():
    device = torch.device("cuda")
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = DataLoader(Windows("train.pt"), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    for epoch in range(EPOCHS):
        total = 0.0
        for tokens, targets in loader:
            tokens, targets = tokens.to(device), targets.to(device)
            loss = step(model, tokens, targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.3f}")
        torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
