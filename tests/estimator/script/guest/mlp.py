"""A stack of linear layers on vectors."""

import torch
from torch import nn

BATCH = 8192


def build(depth=4, width=4096):
    layers, inputs = [], 784
    for _ in range(depth):
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, 10))


net = build().cuda()
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
rows = torch.utils.data.TensorDataset(torch.zeros(60000, 784), torch.zeros(60000, dtype=torch.long))
for x, y in torch.utils.data.DataLoader(rows, batch_size=BATCH):
    out = net(x.cuda())
    loss = nn.functional.cross_entropy(out, y.cuda())
    loss.backward()
    sgd.step()
    sgd.zero_grad()
