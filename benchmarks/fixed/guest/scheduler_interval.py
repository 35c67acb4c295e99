# says: the schedule runs through all of its steps
# promise: before["steps"] == 2 and after["steps"] == 8
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(14)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
batches = DataLoader(TensorDataset(torch.randn(16, 4)), batch_size=4, shuffle=True)
epochs = 2
cycle = torch.optim.lr_scheduler.OneCycleLR(sgd, max_lr=0.1, epochs=epochs, steps_per_epoch=len(batches))
for epoch in range(epochs):
    for (rows,) in batches:
        sgd.zero_grad()
        net(rows).square().mean().backward()
        sgd.step()
    cycle.step()
measured = {"steps": cycle.last_epoch}
