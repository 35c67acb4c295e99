# says: the second term trains too
# promise: before["moved"] is False and after["moved"] is True
import torch
from torch.nn import functional as F

torch.manual_seed(16)
net = torch.nn.Linear(4, 4)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
start = net.weight.detach().clone()
for rows in torch.randn(3, 8, 4):
    out = net(rows)
    cost = 0.0 * F.mse_loss(out, rows) + F.l1_loss(out, rows).item()
    sgd.zero_grad()
    cost.backward()
    sgd.step()
measured = {"moved": bool((net.weight - start).abs().max() > 0)}
