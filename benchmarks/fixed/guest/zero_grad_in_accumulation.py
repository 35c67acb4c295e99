# says: the step uses all of its window
# promise: abs(before["ratio"] - 0.25) < 1e-4 and abs(after["ratio"] - 1) < 1e-4
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(28)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.0)
pieces = 4
rows = torch.ones(32, 4)
(whole,) = torch.autograd.grad(net(rows).square().mean(), [net.weight])
batches = DataLoader(TensorDataset(rows), batch_size=8, shuffle=True)
ratios = []
sgd.register_step_pre_hook(lambda *_: ratios.append(float(net.weight.grad.norm() / whole.norm())))
for number, (some,) in enumerate(batches):
    sgd.zero_grad()
    cost = net(some).square().mean() / pieces
    cost.backward()
    if (number + 1) % pieces == 0:
        sgd.step()
measured = {"ratio": ratios[-1]}
