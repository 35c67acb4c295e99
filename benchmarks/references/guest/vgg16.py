import torch
import torch.nn as nn
import torchvision
from torchvision import datasets, transforms
from torch.utils.data import DataLoader

IMG_SIZE = 224
tf = transforms.Compose([transforms.RandomResizedCrop(IMG_SIZE), transforms.ToTensor()])
loader = DataLoader(datasets.ImageFolder("data/train", tf), batch_size=32, shuffle=True, num_workers=8)
model = torchvision.models.vgg16()
model = model.cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(90):
    for x, y in loader:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
