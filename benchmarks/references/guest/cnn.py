import torch, torch.nn as nn
from torchvision import datasets, transforms


class Net(nn.Module):
    def __init__(self, nc=10):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, padding=1),
            nn.BatchNorm2d(128),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(128, 256, 3, padding=1),
            nn.BatchNorm2d(256),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
        )
        self.c = nn.Linear(256, nc)

    def forward(self, x):
        return self.c(self.f(x).flatten(1))


net = Net().cuda()
loader = torch.utils.data.DataLoader(datasets.CIFAR10("d", transform=transforms.ToTensor()), batch_size=256)
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
    loss.backward()
    opt.step()
    opt.zero_grad()
