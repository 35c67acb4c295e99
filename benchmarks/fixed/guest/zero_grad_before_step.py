# says: the step uses the gradient
# promise: before["moved"] is False and after["moved"] is True
import torch

torch.manual_seed(23)
net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
start = net.weight.detach().clone()
for rows in torch.randn(3, 8, 4):
    cost = net(rows).square().mean()
    cost.backward()
    sgd.zero_grad()
    sgd.step()
measured = {"moved": bool((net.weight - start).abs().max() > 0)}
