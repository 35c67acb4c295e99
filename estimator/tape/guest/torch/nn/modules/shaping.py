"""Modules that change shape or size."""

import torch.nn.functional as F
from torch.nn.modules.module import Module


class Flatten(Module):
    """Dimensions as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """One dimension as several."""

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


class Upsample(Module):
    """Another spatial size."""

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode)


class UpsamplingNearest2d(Upsample):
    """By repeating."""


class UpsamplingBilinear2d(Upsample):
    """By interpolating."""


class PixelShuffle(Module):
    """Channels moved into space."""

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)


class _Pad(Module):
    """Borders added."""

    dims = 2
    mode = "constant"

    def __init__(self, padding, value=0.0):
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)


class ZeroPad2d(_Pad):
    """Zeros."""


class ConstantPad1d(_Pad):
    """One number, over a sequence."""

    dims = 1


class ConstantPad2d(_Pad):
    """One number."""


class ReflectionPad1d(_Pad):
    """Mirrored, over a sequence."""

    dims = 1
    mode = "reflect"


class ReflectionPad2d(_Pad):
    """Mirrored."""

    mode = "reflect"


class ReplicationPad2d(_Pad):
    """The border repeated."""

    mode = "replicate"


class ZeroPad1d(_Pad):
    """Zeros, over a sequence."""

    dims = 1


class ReplicationPad1d(_Pad):
    """The border repeated, over a sequence."""

    dims = 1
    mode = "replicate"


class CircularPad2d(_Pad):
    """The other side."""

    mode = "circular"


class PixelUnshuffle(Module):
    """Space moved into channels."""

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)


class Unfold(Module):
    """Patches side by side."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.options = (kernel_size, dilation, padding, stride)

    def forward(self, input):
        return F.unfold(input, *self.options)
