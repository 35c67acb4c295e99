# says: a step uses the gradient of its own backward alone
# promise: before["off"] > 0.1 and after["off"] < 1e-6
import torch

torch.manual_seed(2)
net = torch.nn.Linear(5, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
off = 0.0
for number in range(3):
    rows = torch.full((4, 5), 1.0 + number)
    cost = net(rows).square().mean()
    (alone,) = torch.autograd.grad(net(rows).square().mean(), [net.weight])
    cost.backward()
    off = max(off, float((net.weight.grad - alone).abs().max()))
    sgd.step()
measured = {"off": off}
