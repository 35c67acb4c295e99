# says: the loss is the cross entropy
# promise: before["loss"] < 0 and abs(after["loss"] - after["wanted"]) < 1e-5
import torch
from torch.nn import functional as F

torch.manual_seed(10)
net = torch.nn.Linear(4, 3)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    rows, marks = torch.randn(16, 4), torch.randint(0, 3, (16,))
    wanted = float(F.cross_entropy(net(rows), marks))
    cost = F.nll_loss(F.softmax(net(rows), dim=1), marks)
    sgd.zero_grad()
    cost.backward()
    sgd.step()
measured = {"loss": float(cost.detach()), "wanted": wanted}
