"""Swin transformers of timm. Mirrors timm 1.0.31 (``models/swin_transformer.py``): parameter names and the operations of a training step.

Attention looks at windows and is written out: the library leaves its fused form off.
"""

import torch
from preflight_zoo.stochastic import StochasticDepth, rates
from preflight_zoo.timm_vit import Mlp
from torch import nn

#: Width, blocks and heads of the four stages.
SIZES = {
    "tiny": (96, (2, 2, 6, 2), (3, 6, 12, 24)),
    "small": (96, (2, 2, 18, 2), (3, 6, 12, 24)),
    "base": (128, (2, 2, 18, 2), (4, 8, 16, 32)),
    "large": (192, (2, 2, 18, 2), (6, 12, 24, 48)),
}


class TimmSwinConfig:
    def __init__(self, size="tiny", window_size=7, img_size=224, in_chans=3, num_classes=1000, drop_rate=0.0, drop_path_rate=0.1):
        self.size = size
        self.window_size = window_size
        self.img_size = img_size
        self.in_chans = in_chans
        self.num_classes = num_classes
        self.drop_rate = drop_rate
        self.drop_path_rate = drop_path_rate


def windows_of(x, edge):
    """(batch, height, breadth, width) as (windows, edge, edge, width)."""
    batch, height, breadth, width = x.shape
    x = x.view(batch, height // edge, edge, breadth // edge, edge, width)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, edge, edge, width)


def picture_of(windows, edge, height, breadth):
    width = windows.shape[-1]
    x = windows.view(-1, height // edge, breadth // edge, edge, edge, width)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, height, breadth, width)


class WindowAttention(nn.Module):
    def __init__(self, width, heads, edge):
        super().__init__()
        self.area = edge * edge
        self.heads = heads
        self.relative_position_bias_table = nn.Parameter(torch.empty((2 * edge - 1) * (2 * edge - 1), heads))
        self.register_buffer("relative_position_index", torch.empty(self.area, self.area, dtype=torch.long), persistent=False)
        self.qkv = nn.Linear(width, width * 3)
        self.proj = nn.Linear(width, width)
        self.scale = (width // heads) ** -0.5
        self.softmax = nn.Softmax(dim=-1)

    def bias(self):
        found = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(self.area, self.area, -1)
        found = found.permute(2, 0, 1).contiguous()
        return found.unsqueeze(0)

    def forward(self, x, mask=None):
        count, length, width = x.shape
        qkv = self.qkv(x).reshape(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q = q * self.scale
        weights = q @ k.transpose(-2, -1)
        weights = weights + self.bias()
        if mask is not None:
            windows = mask.shape[0]
            weights = weights.view(-1, windows, self.heads, length, length) + mask.unsqueeze(1).unsqueeze(0)
            weights = weights.view(-1, self.heads, length, length)
        weights = self.softmax(weights)
        x = weights @ v
        x = x.transpose(1, 2).reshape(count, length, -1)
        x = self.proj(x)
        return x


class SwinTransformerBlock(nn.Module):
    def __init__(self, width, resolution, heads, window, shifted, rate):
        super().__init__()
        self.edge = min(window, resolution)
        self.shift = window // 2 if shifted and resolution > self.edge else 0
        self.norm1 = nn.LayerNorm(width)
        self.attn = WindowAttention(width, heads, self.edge)
        self.drop_path1 = StochasticDepth(rate) if rate > 0.0 else nn.Identity()
        self.norm2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, 4 * width)
        self.drop_path2 = StochasticDepth(rate) if rate > 0.0 else nn.Identity()
        mask = None
        if self.shift:
            windows = (-(-resolution // self.edge)) ** 2
            mask = torch.zeros(windows, self.edge * self.edge, self.edge * self.edge)
        self.register_buffer("attn_mask", mask, persistent=False)

    def attended(self, x):
        _, height, breadth, width = x.shape
        edge = self.edge
        moved = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2)) if self.shift else x
        moved = nn.functional.pad(moved, (0, 0, 0, (edge - breadth % edge) % edge, 0, (edge - height % edge) % edge))
        _, padded_height, padded_breadth, _ = moved.shape
        windows = windows_of(moved, edge)
        windows = windows.view(-1, edge * edge, width)
        made = self.attn(windows, mask=self.attn_mask)
        made = made.view(-1, edge, edge, width)
        moved = picture_of(made, edge, padded_height, padded_breadth)
        moved = moved[:, :height, :breadth, :].contiguous()
        if self.shift:
            x = torch.roll(moved, shifts=(self.shift, self.shift), dims=(1, 2))
        else:
            x = moved
        return x

    def forward(self, x):
        batch, height, breadth, width = x.shape
        x = x + self.drop_path1(self.attended(self.norm1(x)))
        x = x.reshape(batch, -1, width)
        x = x + self.drop_path2(self.mlp(self.norm2(x)))
        x = x.reshape(batch, height, breadth, width)
        return x


class PatchMerging(nn.Module):
    """Four neighbours become one place of twice the width."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(4 * width)
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        batch, height, breadth, width = x.shape
        x = nn.functional.pad(x, (0, 0, 0, breadth % 2, 0, height % 2))
        _, height, breadth, _ = x.shape
        x = x.reshape(batch, height // 2, 2, breadth // 2, 2, width).permute(0, 1, 3, 4, 2, 5).flatten(3)
        x = self.norm(x)
        x = self.reduction(x)
        return x


class SwinTransformerStage(nn.Module):
    def __init__(self, config, width, resolution, heads, each, merges):
        super().__init__()
        self.downsample = PatchMerging(width // 2) if merges else nn.Identity()
        window = config.window_size
        blocks = [SwinTransformerBlock(width, resolution, heads, window, place % 2 == 1, rate) for place, rate in enumerate(each)]
        self.blocks = nn.Sequential(*blocks)

    def forward(self, x):
        x = self.downsample(x)
        x = self.blocks(x)
        return x


class PatchEmbed(nn.Module):
    def __init__(self, config, width):
        super().__init__()
        self.proj = nn.Conv2d(config.in_chans, width, kernel_size=4, stride=4)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = self.proj(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        return x


class Head(nn.Module):
    def __init__(self, width, config):
        super().__init__()
        self.drop = nn.Dropout(config.drop_rate)
        self.fc = nn.Linear(width, config.num_classes) if config.num_classes > 0 else nn.Identity()

    def forward(self, x):
        x = x.mean(dim=(1, 2))
        x = self.drop(x)
        x = self.fc(x)
        return x


class SwinTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        first, counts, heads = SIZES[config.size]
        self.patch_embed = PatchEmbed(config, first)
        every = rates(config.drop_path_rate, sum(counts))
        stages, resolution = [], config.img_size // 4
        for place, count in enumerate(counts):
            resolution = resolution if place == 0 else (resolution + 1) // 2
            stages.append(SwinTransformerStage(config, first * 2**place, resolution, heads[place], every[:count], place > 0))
            every = every[count:]
        self.layers = nn.Sequential(*stages)
        self.num_features = first * 8
        self.norm = nn.LayerNorm(self.num_features)
        self.head = Head(self.num_features, config)

    def get_classifier(self):
        return self.head.fc

    def reset_classifier(self, num_classes, global_pool=None):
        self.head.fc = nn.Linear(self.num_features, num_classes) if num_classes > 0 else nn.Identity()

    def forward_features(self, x):
        x = self.patch_embed(x)
        x = self.layers(x)
        return self.norm(x)

    def forward(self, x):
        x = self.forward_features(x)
        return self.head(x)


def build(config):
    """The classifier: what ``timm.create_model("swin_tiny_patch4_window7_224")`` and its like give."""
    return SwinTransformer(config)
