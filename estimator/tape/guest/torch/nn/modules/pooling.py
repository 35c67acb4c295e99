"""Pooling as modules."""

import torch.nn.functional as F
from torch.nn.modules.module import Module


class _MaxPoolNd(Module):
    """The largest of each window."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode


class MaxPool1d(_MaxPoolNd):
    """Over a sequence."""

    def forward(self, input):
        return F.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxPool2d(_MaxPoolNd):
    """Over an image."""

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxPool3d(_MaxPoolNd):
    """Over a volume."""

    def forward(self, input):
        return F.max_pool3d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class _AvgPoolNd(Module):
    """The mean of each window."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode


class AvgPool1d(_AvgPoolNd):
    """Over a sequence."""

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode)


class AvgPool2d(_AvgPoolNd):
    """Over an image."""

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode)


class AvgPool3d(_AvgPoolNd):
    """Over a volume."""

    def forward(self, input):
        return F.avg_pool3d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode)


class _AdaptivePoolNd(Module):
    """Windows chosen for a wanted size."""

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptivePoolNd):
    """Means over a sequence."""

    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptivePoolNd):
    """Means over an image."""

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptivePoolNd):
    """Means over a volume."""

    def forward(self, input):
        return F.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(_AdaptivePoolNd):
    """Maxima over a sequence."""

    def forward(self, input):
        return F.adaptive_max_pool1d(input, self.output_size)


class AdaptiveMaxPool2d(_AdaptivePoolNd):
    """Maxima over an image."""

    def forward(self, input):
        return F.adaptive_max_pool2d(input, self.output_size)
