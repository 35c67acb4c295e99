"""``torchvision``: its parts under one name."""

from torchvision import datasets, models, transforms
