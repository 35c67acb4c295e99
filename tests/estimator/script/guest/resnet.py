"""A classifier of images in mixed precision."""

import torch
from torch import nn
from torchvision import datasets, models, transforms

crop = transforms.Compose([transforms.Resize(256), transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor()])
loader = torch.utils.data.DataLoader(datasets.ImageFolder("imagenet/train", transform=crop), batch_size=128, num_workers=8, pin_memory=True)
model = models.resnet50(weights=None).cuda()
criterion = nn.CrossEntropyLoss().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(90):
    for images, target in loader:
        images, target = images.cuda(non_blocking=True), target.cuda(non_blocking=True)
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            output = model(images)
            loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
