# says: in evaluation mode nothing is dropped, in training mode half of it is
# promise: before["zeros"] > 0 and after["zeros"] == 0 and after["zeros_in_training"] > 0
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(5, 64)
        self.outer = nn.Linear(64, 1)
        self.kept = None

    def forward(self, rows):
        self.kept = F.dropout(torch.exp(self.inner(rows)), 0.5)
        return self.outer(self.kept)


torch.manual_seed(7)
net = Net()
sgd = torch.optim.SGD(net.parameters(), lr=0.001)
net.train()
for rows in torch.randn(3, 4, 5):
    sgd.zero_grad()
    net(rows).square().mean().backward()
    sgd.step()
zeros_in_training = int((net.kept == 0).sum())
net.eval()
with torch.no_grad():
    net(torch.randn(4, 5))
measured = {"zeros": int((net.kept == 0).sum()), "zeros_in_training": zeros_in_training}
