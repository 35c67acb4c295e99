# says: four micro-batches give the gradient of the whole batch
# promise: abs(before["ratio"] - 4) < 1e-4 and abs(after["ratio"] - 1) < 1e-4
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
net = torch.nn.Linear(5, 3)
sgd = torch.optim.SGD(net.parameters(), lr=0.0)
pieces = 4
rows, marks = torch.randn(32, 5), torch.randint(0, 3, (32,))
(whole,) = torch.autograd.grad(F.cross_entropy(net(rows), marks), [net.weight])
batches = DataLoader(TensorDataset(rows, marks), batch_size=8, shuffle=True)
ratios = []
sgd.register_step_pre_hook(lambda *_: ratios.append(float(net.weight.grad.norm() / whole.norm())))
sgd.zero_grad()
for number, (some, wanted) in enumerate(batches):
    cost = F.cross_entropy(net(some), wanted)
    cost.backward()
    if (number + 1) % pieces == 0:
        sgd.step()
        sgd.zero_grad()
measured = {"ratio": ratios[-1]}
