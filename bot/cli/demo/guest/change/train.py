"""Train the GPT of model.py."""

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from data import Windows
from metrics import History
from model import GPT

BATCH_SIZE = 64
EPOCHS = 10


def step(model, tokens, targets):
    logits = model(tokens)
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def evaluate(model, loader, device):
    model.eval()
    total = 0.0
    for tokens, targets in loader:
        total += step(model, tokens.to(device), targets.to(device)).item()
    return total / len(loader)


def main():
    device = torch.device("cuda")
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = DataLoader(Windows("train.pt"), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    held_out = DataLoader(Windows("valid.pt"), batch_size=BATCH_SIZE)
    history = History()
    for epoch in range(EPOCHS):
        for tokens, targets in loader:
            tokens, targets = tokens.to(device), targets.to(device)
            loss = step(model, tokens, targets)
            loss.backward()
            optimizer.step()
            history.add(loss)
        print(f"epoch {epoch}: {history.mean():.3f}, held out {evaluate(model, held_out, device):.3f}")
        torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
