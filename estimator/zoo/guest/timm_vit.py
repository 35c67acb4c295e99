"""Vision transformers of timm. Mirrors timm 1.0.31 (``models/vision_transformer.py``): parameter names and the operations of a training
step, in their order. Names say size, patch and image: ``vit_base_patch16_384``, ``deit_small_patch16_224``.
"""

import torch
from preflight_zoo.stochastic import StochasticDepth, rates
from torch import nn
from torch.utils.checkpoint import checkpoint

#: Width, layers, heads and the hidden width's multiple of each size.
SIZES = {
    "tiny": (192, 12, 3, 4.0),
    "small": (384, 12, 6, 4.0),
    "base": (768, 12, 12, 4.0),
    "large": (1024, 24, 16, 4.0),
    "huge": (1280, 32, 16, 4.0),
    "giant": (1408, 40, 16, 48 / 11),
    "gigantic": (1664, 48, 16, 64 / 13),
}


class TimmVitConfig:
    def __init__(
        self, size="base", patch_size=16, img_size=224, in_chans=3, num_classes=1000, drop_rate=0.0, drop_path_rate=0.0, init_values=None,
        no_embed_class=False, class_token=True, global_pool="token",
    ):  # fmt: skip
        self.width, self.depth, self.heads, self.mlp_ratio = SIZES[size]
        self.patch_size = patch_size
        self.img_size = img_size
        self.in_chans = in_chans
        self.num_classes = num_classes
        self.drop_rate = drop_rate
        self.drop_path_rate = drop_path_rate
        self.init_values = init_values
        self.no_embed_class = no_embed_class
        self.class_token = class_token
        self.global_pool = global_pool


class PatchEmbed(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.proj = nn.Conv2d(config.in_chans, config.width, kernel_size=config.patch_size, stride=config.patch_size)

    def forward(self, x):
        x = self.proj(x)
        x = x.flatten(2).transpose(1, 2)
        return x


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, width * 3)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x.transpose(1, 2).reshape(batch, length, width)
        x = self.proj(x)
        return x


class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.fc2(x)
        return x


class LayerScale(nn.Module):
    def __init__(self, width, value):
        super().__init__()
        self.gamma = nn.Parameter(value * torch.ones(width))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    def __init__(self, config, rate):
        super().__init__()
        width, scale = config.width, config.init_values
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = Attention(width, config.heads)
        self.ls1 = LayerScale(width, scale) if scale else nn.Identity()
        self.drop_path1 = StochasticDepth(rate) if rate > 0.0 else nn.Identity()
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width, int(width * config.mlp_ratio))
        self.ls2 = LayerScale(width, scale) if scale else nn.Identity()
        self.drop_path2 = StochasticDepth(rate) if rate > 0.0 else nn.Identity()

    def forward(self, x):
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x))))
        x = x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))
        return x


class VisionTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.num_features = self.embed_dim = config.width
        self.grad_checkpointing = False
        pooled = config.global_pool == "avg"
        patches = (config.img_size // config.patch_size) ** 2
        self.cls_token = nn.Parameter(torch.zeros(1, 1, config.width)) if config.class_token else None
        places = patches if config.no_embed_class or not config.class_token else patches + 1
        self.pos_embed = nn.Parameter(torch.randn(1, places, config.width))
        self.patch_embed = PatchEmbed(config)
        each = rates(config.drop_path_rate, config.depth)
        self.blocks = nn.Sequential(*[Block(config, each[place]) for place in range(config.depth)])
        self.norm = nn.Identity() if pooled else nn.LayerNorm(config.width, eps=1e-6)
        self.fc_norm = nn.LayerNorm(config.width, eps=1e-6) if pooled else nn.Identity()
        self.head_drop = nn.Dropout(config.drop_rate)
        self.head = nn.Linear(config.width, config.num_classes) if config.num_classes > 0 else nn.Identity()

    def set_grad_checkpointing(self, enable=True):
        self.grad_checkpointing = enable

    def get_classifier(self):
        return self.head

    def reset_classifier(self, num_classes, global_pool=None):
        self.head = nn.Linear(self.embed_dim, num_classes) if num_classes > 0 else nn.Identity()

    def with_positions(self, x):
        joined = [] if self.cls_token is None else [self.cls_token.expand(x.shape[0], -1, -1)]
        if self.config.no_embed_class:
            x = x + self.pos_embed
            return torch.cat([*joined, x], dim=1) if joined else x
        if joined:
            x = torch.cat([*joined, x], dim=1)
        x = x + self.pos_embed
        return x

    def forward_features(self, x):
        x = self.patch_embed(x)
        x = self.with_positions(x)
        if self.grad_checkpointing and torch.is_grad_enabled():
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False)
        else:
            x = self.blocks(x)
        x = self.norm(x)
        return x

    def forward_head(self, x, pre_logits=False):
        if self.config.global_pool == "avg":
            x = (x if self.cls_token is None else x[:, 1:]).mean(dim=1)
        elif self.config.global_pool == "token":
            x = x[:, 0]
        x = self.fc_norm(x)
        x = self.head_drop(x)
        return x if pre_logits else self.head(x)

    def forward(self, x):
        x = self.forward_features(x)
        x = self.forward_head(x)
        return x


def build(config):
    """The classifier: what ``timm.create_model("vit_base_patch16_224")`` and its like give."""
    return VisionTransformer(config)
