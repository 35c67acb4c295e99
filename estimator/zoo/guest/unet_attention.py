"""Attention inside Stable Diffusion's U-Nets. Mirrors diffusers 0.42.1 (``models/attention.py``, ``models/transformers/transformer_2d.py``),
as ``unet_2d_condition`` does.
"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    """Looks at the places of the picture, or at a text's states."""

    def __init__(self, width, heads, text_width=None):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(width if text_width is None else text_width, width, bias=False)
        self.to_v = nn.Linear(width if text_width is None else text_width, width, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(width, width), nn.Dropout(0.0)])

    def forward(self, x, encoded=None):
        batch = x.shape[0]
        query = self.to_q(x)
        if encoded is None:
            encoded = x
        key = self.to_k(encoded)
        value = self.to_v(encoded)
        size = key.shape[-1] // self.heads
        query = query.view(batch, -1, self.heads, size).transpose(1, 2)
        key = key.view(batch, -1, self.heads, size).transpose(1, 2)
        value = value.view(batch, -1, self.heads, size).transpose(1, 2)
        x = nn.functional.scaled_dot_product_attention(query, key, value)
        x = x.transpose(1, 2).reshape(batch, -1, self.heads * size)
        x = x.to(query.dtype)
        x = self.to_out[0](x)
        x = self.to_out[1](x)
        x = x / 1.0
        return x


class GEGLU(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.proj = nn.Linear(width, hidden * 2)

    def forward(self, x):
        x = self.proj(x)
        x, gate = x.chunk(2, dim=-1)
        return x * nn.functional.gelu(gate)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.ModuleList([GEGLU(width, width * 4), nn.Dropout(0.0), nn.Linear(width * 4, width)])

    def forward(self, x):
        for layer in self.net:
            x = layer(x)
        return x


class BasicTransformerBlock(nn.Module):
    def __init__(self, width, heads, text_width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-5)
        self.attn1 = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-5)
        self.attn2 = Attention(width, heads, text_width)
        self.norm3 = nn.LayerNorm(width, eps=1e-5)
        self.ff = FeedForward(width)

    def forward(self, x, encoded):
        normed = self.norm1(x)
        made = self.attn1(normed)
        x = made + x
        normed = self.norm2(x)
        made = self.attn2(normed, encoded)
        x = made + x
        normed = self.norm3(x)
        made = self.ff(normed)
        x = made + x
        return x


class Transformer2DModel(nn.Module):
    """Transformer blocks over the places of a picture."""

    gradient_checkpointing = False

    def __init__(self, config, width, heads, layers):
        super().__init__()
        self.linear = config.use_linear_projection
        self.norm = nn.GroupNorm(config.norm_num_groups, width, eps=1e-6)
        self.proj_in = nn.Linear(width, width) if self.linear else nn.Conv2d(width, width, kernel_size=1, stride=1, padding=0)
        self.transformer_blocks = nn.ModuleList([BasicTransformerBlock(width, heads, config.cross_attention_dim) for _ in range(layers)])
        self.proj_out = nn.Linear(width, width) if self.linear else nn.Conv2d(width, width, kernel_size=1, stride=1, padding=0)

    def laid_out(self, x):
        """(batch, width, height, breadth) as (batch, places, width)."""
        batch, _, height, breadth = x.shape
        x = self.norm(x)
        if not self.linear:
            x = self.proj_in(x)
            return x.permute(0, 2, 3, 1).reshape(batch, height * breadth, x.shape[1])
        x = x.permute(0, 2, 3, 1).reshape(batch, height * breadth, x.shape[1])
        return self.proj_in(x)

    def put_back(self, x, before):
        """The places as a picture again, added to what came in."""
        batch, _, height, breadth = before.shape
        width = x.shape[-1]
        if not self.linear:
            x = x.reshape(batch, height, breadth, width).permute(0, 3, 1, 2).contiguous()
            x = self.proj_out(x)
        else:
            x = self.proj_out(x)
            x = x.reshape(batch, height, breadth, width).permute(0, 3, 1, 2).contiguous()
        return x + before

    def forward(self, x, encoded):
        before = x
        x = self.laid_out(x)
        for block in self.transformer_blocks:
            x = checkpoint(block, x, encoded, use_reentrant=False) if self.gradient_checkpointing and torch.is_grad_enabled() else block(x, encoded)
        return self.put_back(x, before)
