import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, nc=10):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(128, 256, 3, padding=1), nn.BatchNorm2d(256), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1),
        )
        self.c = nn.Linear(256, nc)

    def forward(self, x):
        return self.c(self.f(x).flatten(1))


net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(2):
    x = torch.empty(batch, 3, 32, 32, device="cuda")
    y = torch.empty(batch, dtype=torch.long, device="cuda")
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
