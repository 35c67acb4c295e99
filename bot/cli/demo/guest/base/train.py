"""Train the GPT of model.py."""

import torch
from torch.nn import functional as F

from data import Text
from model import GPT

BATCH_SIZE = 8
STEPS = 20_000


def compute_loss(model, tokens, targets):
    logits = model(tokens)
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def main():
    device = torch.device("cuda")
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    text = Text("train.bin")
    for step in range(STEPS):
        tokens, targets = text.batch(BATCH_SIZE, device)
        loss = compute_loss(model, tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: {loss.item():.3f}")
    torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
