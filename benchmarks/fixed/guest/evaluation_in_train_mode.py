# says: an evaluation drops nothing, so that it gives the same twice, and training goes on in training mode
# promise: before["same"] is False and after["same"] is True and after["training"] is True
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
net = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.Dropout(0.5), torch.nn.Linear(32, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
train_batches = DataLoader(TensorDataset(torch.randn(12, 5)), batch_size=4, shuffle=True)
held_batches = DataLoader(TensorDataset(torch.randn(64, 5)), batch_size=16)
scores = []


@torch.no_grad()
def validate(model, batches):
    total = 0.0
    for (rows,) in batches:
        total += model(rows).square().mean().item()
    return total


for _ in range(2):
    net.train()
    for (rows,) in train_batches:
        sgd.zero_grad()
        net(rows).square().mean().backward()
        sgd.step()
        training = net.training
    scores.append([validate(net, held_batches), validate(net, held_batches)])
measured = {"same": all(one == other for one, other in scores), "training": training}
