"""Train the GPT of model.py."""

import torch
from torch.nn import functional as F

from data import Text
from metrics import History
from model import GPT

BATCH_SIZE = 64
STEPS = 20_000


def compute_loss(model, tokens, targets):
    logits = model(tokens)
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def evaluate(model, text, device):
    model.eval()
    total = 0.0
    for _ in range(20):
        tokens, targets = text.batch(BATCH_SIZE, device)
        total += compute_loss(model, tokens, targets).item()
    return total / 20


def main():
    device = torch.device("cuda")
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    text, held_out = Text("train.bin"), Text("valid.bin")
    history = History()
    for step in range(STEPS):
        tokens, targets = text.batch(BATCH_SIZE, device)
        loss = compute_loss(model, tokens, targets)
        loss.backward()
        optimizer.step()
        history.add(loss)
        if step % 100 == 0:
            print(f"step {step}: {history.mean():.3f}, held out {evaluate(model, held_out, device):.3f}")
    torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
