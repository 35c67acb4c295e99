"""The blocks of Stable Diffusion's U-Nets. Mirrors diffusers 0.42.1 (``models/resnet.py``, ``models/unets/unet_2d_blocks.py``), as
``unet_2d_condition`` does.
"""

import torch
from preflight_zoo.unet_attention import Transformer2DModel
from torch import nn
from torch.utils.checkpoint import checkpoint


class ResnetBlock2D(nn.Module):
    """Two convolutions with the time's embedding added between them, and a shortcut."""

    def __init__(self, inputs, outputs, time_width, groups, eps, dropout=0.0):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs, eps=eps)
        self.conv1 = nn.Conv2d(inputs, outputs, kernel_size=3, stride=1, padding=1)
        self.time_emb_proj = None
        if time_width is not None:
            self.time_emb_proj = nn.Linear(time_width, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs, eps=eps)
        self.dropout = nn.Dropout(dropout)
        self.conv2 = nn.Conv2d(outputs, outputs, kernel_size=3, stride=1, padding=1)
        self.nonlinearity = nn.SiLU()
        self.conv_shortcut = None
        if inputs != outputs:
            self.conv_shortcut = nn.Conv2d(inputs, outputs, kernel_size=1, stride=1, padding=0)

    def forward(self, before, time=None):
        x = before
        x = self.norm1(x)
        x = self.nonlinearity(x)
        x = self.conv1(x)
        if self.time_emb_proj is not None:
            time = self.nonlinearity(time)
            time = self.time_emb_proj(time)[:, :, None, None]
            x = x + time
        x = self.norm2(x)
        x = self.nonlinearity(x)
        x = self.dropout(x)
        x = self.conv2(x)
        if self.conv_shortcut is not None:
            if self.training:
                before = before.contiguous()
            before = self.conv_shortcut(before)
        return (before + x) / 1.0


class Downsample2D(nn.Module):
    def __init__(self, width, padding=1):
        super().__init__()
        self.padding = padding
        self.conv = nn.Conv2d(width, width, kernel_size=3, stride=2, padding=padding)

    def forward(self, x):
        if self.padding == 0:
            x = nn.functional.pad(x, (0, 1, 0, 1), mode="constant", value=0)
        x = self.conv(x)
        return x


class Upsample2D(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, kernel_size=3, padding=1)

    def forward(self, x, size=None):
        if x.shape[0] >= 64:
            x = x.contiguous()
        if size is None:
            x = nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
        else:
            x = nn.functional.interpolate(x, size=size, mode="nearest")
        x = self.conv(x)
        return x


class _Block(nn.Module):
    """Layers of convolutions, each with attention behind it where the block has any."""

    gradient_checkpointing = False

    def filled(self, config, widths, outputs, heads, layers, time_width, with_attention):
        groups = config.norm_num_groups
        if with_attention:
            made = [Transformer2DModel(config, outputs, heads, layers) for _ in range(len(widths) - with_attention + 1)]
            self.attentions = nn.ModuleList(made)
        self.resnets = nn.ModuleList([ResnetBlock2D(width, outputs, time_width, groups, config.norm_eps, config.dropout) for width in widths])

    def convolved(self, layer, x, time):
        if self.gradient_checkpointing and torch.is_grad_enabled():
            return checkpoint(layer, x, time, use_reentrant=False)
        return layer(x, time)


class DownBlock2D(_Block):
    def __init__(self, config, inputs, outputs, heads, layers, time_width, last, attention):
        super().__init__()
        self.has_cross_attention = attention
        widths = [inputs if place == 0 else outputs for place in range(config.layers_per_block)]
        self.filled(config, widths, outputs, heads, layers, time_width, 1 if attention else 0)
        self.downsamplers = None
        if not last:
            self.downsamplers = nn.ModuleList([Downsample2D(outputs, config.downsample_padding)])

    def forward(self, x, time, encoded, added=None):
        states = ()
        for place, layer in enumerate(self.resnets):
            x = self.convolved(layer, x, time)
            if self.has_cross_attention:
                x = self.attentions[place](x, encoded)
            if added is not None and place == len(self.resnets) - 1:
                x = x + added
            states = states + (x,)
        if self.downsamplers is not None:
            for downsampler in self.downsamplers:
                x = downsampler(x)
            states = states + (x,)
        return x, states


class MidBlock2D(_Block):
    """A layer of attention between two of convolutions."""

    def __init__(self, config, width, heads, layers, time_width):
        super().__init__()
        self.filled(config, [width, width], width, heads, layers, time_width, 2)

    def forward(self, x, time, encoded):
        x = self.resnets[0](x, time)  # the library never checkpoints this one
        x = self.attentions[0](x, encoded)
        x = self.convolved(self.resnets[1], x, time)
        return x


class UpBlock2D(_Block):
    def __init__(self, config, inputs, outputs, before, heads, layers, time_width, last, attention):
        super().__init__()
        self.has_cross_attention = attention
        count = config.layers_per_block + 1
        widths = [(before if place == 0 else outputs) + (inputs if place == count - 1 else outputs) for place in range(count)]
        self.filled(config, widths, outputs, heads, layers, time_width, 1 if attention else 0)
        self.upsamplers = None
        if not last:
            self.upsamplers = nn.ModuleList([Upsample2D(outputs)])

    def forward(self, x, skipped, time, encoded, size=None):
        for place, layer in enumerate(self.resnets):
            beside = skipped[-1]
            skipped = skipped[:-1]
            x = torch.cat([x, beside], dim=1)
            x = self.convolved(layer, x, time)
            if self.has_cross_attention:
                x = self.attentions[place](x, encoded)
        if self.upsamplers is not None:
            for upsampler in self.upsamplers:
                x = upsampler(x, size)
        return x
