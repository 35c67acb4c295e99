"""The model clears its own gradients; its output has parts."""

import torch


def finetune(model, loader):
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for batch in loader:
        model.train()
        model.zero_grad(set_to_none=True)
        loss = model(**{name: value.cuda() for name, value in batch.items()}).loss
        loss.backward()
        optimizer.step()
