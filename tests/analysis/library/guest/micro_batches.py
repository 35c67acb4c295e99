"""An inner loop of micro-batches for each step."""

import torch

MICRO = 3


def pretrain(model, draw):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for iteration in range(5000):
        for _ in range(MICRO):
            tokens, following = draw("train")
            with torch.autocast("cuda", dtype=torch.bfloat16):
                _, loss = model(tokens, following)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if iteration % 250 == 0:
            print(iteration, loss.item())
