"""Swin transformers of torchvision. Mirrors torchvision 0.29.1 (``models/swin_transformer.py``): parameter names and the operations of a training step."""

import torch
from preflight_zoo.convnext import Permute
from preflight_zoo.stochastic import StochasticDepth
from torch import nn

#: Width, blocks and heads of the four stages, and how often a block is left out at the end.
SIZES = {
    "t": (96, (2, 2, 6, 2), (3, 6, 12, 24), 0.2),
    "s": (96, (2, 2, 18, 2), (3, 6, 12, 24), 0.3),
    "b": (128, (2, 2, 18, 2), (4, 8, 16, 32), 0.5),
}
WINDOW = 7


class SwinTransformerConfig:
    def __init__(self, size="t", num_classes=1000, dropout=0.0, attention_dropout=0.0, stochastic_depth_prob=None):
        self.size = size
        self.num_classes = num_classes
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.stochastic_depth_prob = SIZES[size][3] if stochastic_depth_prob is None else stochastic_depth_prob


class ShiftedWindowAttention(nn.Module):
    def __init__(self, config, width, heads, shift):
        super().__init__()
        self.heads = heads
        self.shift = shift
        self.dropout = config.dropout
        self.attention_dropout = config.attention_dropout
        self.qkv = nn.Linear(width, width * 3)
        self.proj = nn.Linear(width, width)
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * WINDOW - 1) * (2 * WINDOW - 1), heads))
        self.register_buffer("relative_position_index", torch.zeros(WINDOW**4, dtype=torch.long))

    def bias(self):
        area = WINDOW * WINDOW
        found = self.relative_position_bias_table[self.relative_position_index]
        return found.view(area, area, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def mask(self, x, height, breadth, shift):
        """Zero where two places were neighbours before the shift, far below where not."""
        regions = x.new_zeros((height, breadth))
        regions = regions.view(height // WINDOW, WINDOW, breadth // WINDOW, WINDOW)
        regions = regions.permute(0, 2, 1, 3).reshape((height // WINDOW) * (breadth // WINDOW), WINDOW * WINDOW)
        regions = regions.unsqueeze(1) - regions.unsqueeze(2)
        regions = regions.masked_fill(regions != 0, -100.0).masked_fill(regions == 0, 0.0)
        return regions.unsqueeze(1).unsqueeze(0)

    def scored(self, q, k, bias, windows, shifted):
        """The scores of every pair of places of a window; ``shifted`` holds what the mask is made of."""
        scores = q.matmul(k.transpose(-2, -1))
        scores = scores + bias
        if shifted is not None:
            length = scores.shape[-1]
            mask = self.mask(*shifted)
            scores = scores.view(-1, windows, self.heads, length, length)
            scores = scores + mask
            scores = scores.view(-1, self.heads, length, length)
        scores = nn.functional.softmax(scores, dim=-1)
        return nn.functional.dropout(scores, p=self.attention_dropout, training=self.training)

    def forward(self, given):
        bias = self.bias()
        batch, height, breadth, width = given.shape
        x = nn.functional.pad(given, (0, 0, 0, -breadth % WINDOW, 0, -height % WINDOW))
        _, high, wide, _ = x.shape
        down, right = (self.shift if WINDOW < edge else 0 for edge in (high, wide))
        if down + right:
            x = torch.roll(x, shifts=(-down, -right), dims=(1, 2))
        windows = (high // WINDOW) * (wide // WINDOW)
        x = x.view(batch, high // WINDOW, WINDOW, wide // WINDOW, WINDOW, width)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(batch * windows, WINDOW * WINDOW, width)
        qkv = nn.functional.linear(x, self.qkv.weight, self.qkv.bias)
        qkv = qkv.reshape(x.size(0), x.size(1), 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        q = q * (width // self.heads) ** -0.5
        scores = self.scored(q, k, bias, windows, (x, high, wide, down) if down + right else None)
        x = scores.matmul(v).transpose(1, 2).reshape(x.size(0), x.size(1), width)
        x = nn.functional.linear(x, self.proj.weight, self.proj.bias)
        x = nn.functional.dropout(x, p=self.dropout, training=self.training)
        x = x.view(batch, high // WINDOW, wide // WINDOW, WINDOW, WINDOW, width)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(batch, high, wide, width)
        if down + right:
            x = torch.roll(x, shifts=(down, right), dims=(1, 2))
        return x[:, :height, :breadth, :].contiguous()


class SwinTransformerBlock(nn.Module):
    def __init__(self, config, width, heads, shift, rate):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-5)
        self.attn = ShiftedWindowAttention(config, width, heads, shift)
        self.stochastic_depth = StochasticDepth(rate)
        self.norm2 = nn.LayerNorm(width, eps=1e-5)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(4 * width, width), nn.Dropout(config.dropout)
        )

    def forward(self, x):
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        x = x + self.stochastic_depth(self.mlp(self.norm2(x)))
        return x


class PatchMerging(nn.Module):
    """Four neighbours become one place of twice the width."""

    def __init__(self, width):
        super().__init__()
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)
        self.norm = nn.LayerNorm(4 * width, eps=1e-5)

    def forward(self, x):
        height, breadth, _ = x.shape[-3:]
        x = nn.functional.pad(x, (0, 0, 0, breadth % 2, 0, height % 2))
        parts = [x[..., 0::2, 0::2, :], x[..., 1::2, 0::2, :], x[..., 0::2, 1::2, :], x[..., 1::2, 1::2, :]]
        x = torch.cat(parts, -1)
        parts = None
        x = self.norm(x)
        x = self.reduction(x)
        return x


class SwinTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        first, counts, heads, _ = SIZES[config.size]
        layers = [nn.Sequential(nn.Conv2d(3, first, kernel_size=4, stride=4), Permute([0, 2, 3, 1]), nn.LayerNorm(first, eps=1e-5))]
        place = 0
        for stage, count in enumerate(counts):
            width, blocks = first * 2**stage, []
            for index in range(count):
                rate = config.stochastic_depth_prob * place / (sum(counts) - 1)
                blocks.append(SwinTransformerBlock(config, width, heads[stage], WINDOW // 2 if index % 2 else 0, rate))
                place += 1
            layers.append(nn.Sequential(*blocks))
            if stage + 1 < len(counts):
                layers.append(PatchMerging(width))
        self.features = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(width, eps=1e-5)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(width, config.num_classes)

    def forward(self, x):
        x = self.features(x)
        x = self.norm(x)
        x = self.permute(x)
        x = self.avgpool(x)
        x = self.flatten(x)
        x = self.head(x)
        return x


def build(config):
    """The classifier of that size: what ``torchvision.models.swin_t()`` and its like give."""
    return SwinTransformer(config)
