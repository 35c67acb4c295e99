"""A convolutional network in a main function, with its options on the command line."""

import argparse

import torch
from torch import nn, optim
from torchvision import datasets, transforms


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(128, 256, 3, padding=1), nn.BatchNorm2d(256), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(256, classes)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def train(args, model, device, loader, optimizer):
    model.train()
    criterion = nn.CrossEntropyLoss()
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        if step % args.log_interval == 0:
            print(f"{step}: {loss.item():.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--log-interval", type=int, default=10)
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    data = datasets.CIFAR10("data", train=True, download=True, transform=transforms.Compose([transforms.ToTensor()]))
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = Net().to(device)
    optimizer = optim.Adam(model.parameters())
    for epoch in range(10):
        train(args, model, device, loader, optimizer)


if __name__ == "__main__":
    main()
