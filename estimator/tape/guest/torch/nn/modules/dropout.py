"""Dropout as modules."""

import torch.nn.functional as F
from torch.nn.modules.module import Module


class _DropoutNd(Module):
    """Drops with probability ``p`` while training."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p
        self.inplace = inplace


class Dropout(_DropoutNd):
    """Elements."""

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Channels."""

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Channels."""

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Channels."""

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)
