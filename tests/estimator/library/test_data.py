"""Images and data sets: what a batch is made of."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

IMAGES = """
import torch
from torch import nn
from torchvision import datasets, transforms

model = nn.Sequential(nn.Conv2d({channels}, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = datasets.{data}("data", transform={transform})
for x, y in torch.utils.data.DataLoader(data, batch_size=4):
    nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("data", "transform", "channels", "size"),
    [
        ("CIFAR10", "transforms.ToTensor()", 3, 32),
        ("MNIST", "transforms.ToTensor()", 1, 28),
        ("MNIST", "transforms.Compose([transforms.Resize((64, 64)), transforms.Grayscale(3), transforms.ToTensor()])", 3, 64),
        ("ImageFolder", "transforms.Compose([transforms.Resize(256), transforms.CenterCrop(192), transforms.ToTensor(), transforms.Normalize(0, 1)])", 3, 192),
        (
            "ImageFolder",
            "transforms.Compose([transforms.RandomApply([transforms.ColorJitter()]), transforms.RandomResizedCrop(96), transforms.ToTensor()])",
            3,
            96,
        ),
    ],
)
def test_transforms_decide_the_size(data, transform, channels, size):
    found = estimated(IMAGES.format(data=data, transform=transform, channels=channels))
    assert found.memory is not None, found.unknowns
    assert (found.config.image_size.value, found.config.batch_size.value) == (size, 4)
    assert found.unknowns == ()


def test_images_of_unknown_size_are_assumed_in_the_open():
    found = estimated(IMAGES.format(data="ImageFolder", transform="transforms.ToTensor()", channels=3), gpus=("T4",))
    assert found.config.image_size.value == 224
    assert "ImageNet's usual size" in found.config.image_size.why
    assert found.fits[0].verdict.value == "borderline"


MINE = """class Mine(torch.utils.data.Dataset):
    def __init__(self, root, transform):
        self.root = root

    def __len__(self):
        return 50

    def __getitem__(self, index):
        return torch.zeros(3, 40, 40), index % 10


model = nn"""


def test_a_data_set_of_ones_own_is_asked_for_a_sample():
    script = IMAGES.format(data="Mine", transform="None", channels=3).replace("datasets.Mine", "Mine").replace("model = nn", MINE, 1)
    assert estimated(script).config.image_size.value == 40


def test_a_window_of_accumulation_is_shortened_and_said():
    script = (
        IMAGES.format(data="CIFAR10", transform="transforms.ToTensor()", channels=3)
        .replace("for x, y in torch", "for step, (x, y) in enumerate(torch")
        .replace("batch_size=4):", "batch_size=4)):")
        .replace("    optimizer.step()", "    if (step + 1) % 32 == 0:\n        optimizer.step()")
    )
    found = estimated(script)
    assert found.memory is not None
    assert found.config.accumulation_steps.value == 32
