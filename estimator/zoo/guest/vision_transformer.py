"""The Vision Transformer of torchvision. Mirrors torchvision 0.29.1 (``models/vision_transformer.py``): parameter names and the operations in their order."""

import torch
from torch import nn


class VisionTransformerConfig:
    def __init__(
        self, size="b", patch_size=16, image_size=224, num_classes=1000, dropout=0.0, attention_dropout=0.0, representation_size=None
    ):  # fmt: skip
        self.layers, self.heads, self.width, self.inner = SIZES[size]
        self.patch_size = patch_size
        self.image_size = image_size
        self.num_classes = num_classes
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.representation_size = representation_size


#: Layers, heads, width and width of the feed-forward part.
SIZES = {"b": (12, 12, 768, 3072), "l": (24, 16, 1024, 4096), "h": (32, 16, 1280, 5120)}


class EncoderBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.width, eps=1e-6)
        self.self_attention = nn.MultiheadAttention(config.width, config.heads, dropout=config.attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(config.dropout)
        self.ln_2 = nn.LayerNorm(config.width, eps=1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, config.inner), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(config.inner, config.width), nn.Dropout(config.dropout)
        )

    def forward(self, before):
        x = self.ln_1(before)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x)
        x = x + before
        y = self.ln_2(x)
        y = self.mlp(y)
        return x + y


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        places = (config.image_size // config.patch_size) ** 2 + 1
        self.pos_embedding = nn.Parameter(torch.empty(1, places, config.width))
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.Sequential()
        for layer in range(config.layers):
            self.layers.add_module("encoder_layer_" + str(layer), EncoderBlock(config))
        self.ln = nn.LayerNorm(config.width, eps=1e-6)

    def forward(self, x):
        x = x + self.pos_embedding
        return self.ln(self.layers(self.dropout(x)))


class TorchvisionViT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.conv_proj = nn.Conv2d(3, config.width, kernel_size=config.patch_size, stride=config.patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, 1, config.width))
        self.encoder = Encoder(config)
        self.heads = nn.Sequential()
        inner = config.width
        if config.representation_size is not None:
            inner = config.representation_size
            self.heads.add_module("pre_logits", nn.Linear(config.width, inner))
            self.heads.add_module("act", nn.Tanh())
        self.heads.add_module("head", nn.Linear(inner, config.num_classes))

    def patches(self, x):
        count = x.shape[0]
        x = self.conv_proj(x)
        x = x.reshape(count, self.config.width, x.shape[2] * x.shape[3])
        return x.permute(0, 2, 1)

    def forward(self, x):
        x = self.patches(x)
        token = self.class_token.expand(x.shape[0], -1, -1)
        x = torch.cat([token, x], dim=1)
        x = self.encoder(x)
        x = x[:, 0]
        return self.heads(x)


def build(config):
    """The classifier of that size: what ``torchvision.models.vit_b_16()`` and its like give."""
    return TorchvisionViT(config)
