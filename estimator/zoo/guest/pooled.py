"""What torchvision's classifiers of pictures share: pooled features go through the classifier, and channels are weighed by what all of them hold."""

import torch
from torch import nn


class PooledClassifier(nn.Module):
    """A model with ``features``, ``avgpool`` and ``classifier``."""

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        x = self.classifier(x)
        return x


class SqueezeExcitation(nn.Module):
    """Every channel weighed by what all channels hold on average."""

    def __init__(self, channels, squeezed, activation, scale_activation):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.activation = activation
        self.scale_activation = scale_activation

    def weights(self, x):
        x = self.avgpool(x)
        x = self.fc1(x)
        x = self.activation(x)
        x = self.fc2(x)
        return self.scale_activation(x)

    def forward(self, x):
        weights = self.weights(x)
        return weights * x
