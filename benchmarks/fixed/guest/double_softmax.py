# says: the loss can come near zero
# promise: before["loss"] > 0.5 and after["loss"] < 0.2
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(3, 3)

    def forward(self, rows):
        return torch.softmax(self.scores(rows), dim=1)


torch.manual_seed(8)
net = Net()
criterion = nn.CrossEntropyLoss()
sgd = torch.optim.SGD(net.parameters(), lr=0.5)
marks = torch.randint(0, 3, (60,))
rows = nn.functional.one_hot(marks, 3).float()
for _ in range(300):
    cost = criterion(net(rows), marks)
    sgd.zero_grad()
    cost.backward()
    sgd.step()
measured = {"loss": float(cost.detach())}
