# says: an evaluation builds no graph, and gives the same
# promise: before["graph"] is True and after["graph"] is False and after["mean"] == before["mean"]
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
net = torch.nn.Linear(5, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
train_batches = DataLoader(TensorDataset(torch.randn(12, 5)), batch_size=4, shuffle=True)
held_batches = DataLoader(TensorDataset(torch.randn(8, 5)), batch_size=4)
seen = []


def evaluate(model, batches):
    model.eval()
    total = 0.0
    for (rows,) in batches:
        scores = model(rows)
        seen.append(bool(scores.requires_grad))
        total += scores.square().mean().item()
    model.train()
    return total


for _ in range(2):
    for (rows,) in train_batches:
        sgd.zero_grad()
        net(rows).square().mean().backward()
        sgd.step()
    total = evaluate(net, held_batches)
measured = {"graph": any(seen), "mean": round(total, 6)}
