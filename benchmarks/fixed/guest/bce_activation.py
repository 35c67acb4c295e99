# says: the loss is that of the probabilities that the model gives
# promise: before["loss"] > 0.4 and after["loss"] < 0.2
import torch
from torch import nn

torch.manual_seed(9)
net = nn.Linear(2, 1)
criterion = nn.BCEWithLogitsLoss()
sgd = torch.optim.SGD(net.parameters(), lr=0.5)
rows = torch.randn(80, 2)
marks = (rows[:, :1] > 0).float()
for _ in range(400):
    chances = torch.sigmoid(net(rows))
    cost = criterion(chances, marks)
    sgd.zero_grad()
    cost.backward()
    sgd.step()
measured = {"loss": float(cost.detach())}
