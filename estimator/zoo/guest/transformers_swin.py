"""Swin transformers of transformers. Mirrors transformers 5.24.0 (``models/swin``): attention looks at windows, with the places' bias as its mask."""

import torch
from preflight_zoo.attention import fused, joined_heads, scores, split_heads
from preflight_zoo.bert import ACTIVATIONS
from preflight_zoo.losses import classification_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from preflight_zoo.stochastic import rates
from preflight_zoo.transformers_convnext import DropPath
from torch import nn


class SwinConfig(Configuration):
    def __init__(
        self, image_size=224, patch_size=4, num_channels=3, embed_dim=96, depths=(2, 2, 6, 2), num_heads=(3, 6, 12, 24), window_size=7, mlp_ratio=4.0,
        qkv_bias=True, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, drop_path_rate=0.1, hidden_act="gelu", layer_norm_eps=1e-5, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.image_size = image_size
        self.patch_size = patch_size
        self.num_channels = num_channels
        self.embed_dim = embed_dim
        self.depths = depths
        self.num_heads = num_heads
        self.window_size = window_size
        self.mlp_ratio = mlp_ratio
        self.qkv_bias = qkv_bias
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.drop_path_rate = drop_path_rate
        self.hidden_act = hidden_act
        self.layer_norm_eps = layer_norm_eps
        self.hidden_size = int(embed_dim * 2 ** (len(depths) - 1))


def windows_of(x, edge):
    """(batch, height, breadth, width) as (windows, edge, edge, width)."""
    batch, height, breadth, width = x.shape
    x = x.view(batch, height // edge, edge, breadth // edge, edge, width)
    return x.transpose(2, 3).contiguous().view(-1, edge, edge, width)


def picture_of(windows, edge, height, breadth):
    width = windows.shape[-1]
    x = windows.view(-1, height // edge, breadth // edge, edge, edge, width)
    return x.transpose(2, 3).contiguous().view(-1, height, breadth, width)


class SwinPatchEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.edge = config.patch_size
        self.projection = nn.Conv2d(config.num_channels, config.embed_dim, kernel_size=config.patch_size, stride=config.patch_size)

    def forward(self, pixel_values):
        height, breadth = pixel_values.shape[2:]
        if breadth % self.edge:
            pixel_values = nn.functional.pad(pixel_values, (0, self.edge - breadth % self.edge))
        if height % self.edge:
            pixel_values = nn.functional.pad(pixel_values, (0, 0, 0, self.edge - height % self.edge))
        x = self.projection(pixel_values)
        size = x.shape[2:]
        x = x.flatten(2).transpose(1, 2)
        return x, size


class SwinEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.patch_embeddings = SwinPatchEmbeddings(config)
        self.norm = nn.LayerNorm(config.embed_dim)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, pixel_values):
        x, size = self.patch_embeddings(pixel_values)
        x = self.norm(x)
        x = self.dropout(x)
        return x, size


class SwinPatchMerging(nn.Module):
    """Four neighbours become one place of twice the width."""

    def __init__(self, width):
        super().__init__()
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)
        self.norm = nn.LayerNorm(4 * width)

    def forward(self, x, size):
        height, breadth = size
        batch, _, width = x.shape
        x = x.view(batch, height, breadth, width)
        if height % 2 or breadth % 2:
            x = nn.functional.pad(x, (0, 0, 0, breadth % 2, 0, height % 2))
        x = torch.cat([x[:, row::2, column::2, :] for column in range(2) for row in range(2)], dim=-1)
        x = x.view(batch, -1, 4 * width)
        x = self.norm(x)
        x = self.reduction(x)
        return x


class RelativePositionBias(nn.Module):
    def __init__(self, heads, edge):
        super().__init__()
        self.area = edge * edge
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * edge - 1) * (2 * edge - 1), heads))
        self.register_buffer("relative_position_index", torch.zeros(self.area * self.area, dtype=torch.long), persistent=False)

    def forward(self):
        found = self.relative_position_bias_table[self.relative_position_index]
        found = found.view(self.area, self.area, -1)
        return found.permute(2, 0, 1).contiguous().unsqueeze(0)


class SwinAttention(nn.Module):
    def __init__(self, config, width, heads):
        super().__init__()
        self.config = config
        self.head_dim = width // heads
        self.scaling = self.head_dim**-0.5
        self.q_proj = nn.Linear(width, width, bias=config.qkv_bias)
        self.k_proj = nn.Linear(width, width, bias=config.qkv_bias)
        self.v_proj = nn.Linear(width, width, bias=config.qkv_bias)
        self.o_proj = nn.Linear(width, width)
        self.relative_position_bias = RelativePositionBias(heads, config.window_size)

    def forward(self, x, mask):
        query = split_heads(self.q_proj(x), self.head_dim)
        key = split_heads(self.k_proj(x), self.head_dim)
        value = split_heads(self.v_proj(x), self.head_dim)
        bias = self.relative_position_bias()
        if mask is not None:
            windows, length = mask.shape[0], x.shape[1]
            mask = mask.unsqueeze(1).unsqueeze(0).expand(x.shape[0] // windows, -1, -1, -1, -1).reshape(-1, 1, length, length)
            mask = bias + mask
        else:
            mask = bias
        dropout = self.config.attention_probs_dropout_prob if self.training else 0.0
        if self.config._attn_implementation == "eager":
            attended, weights = self.eager(query, key, value, mask, dropout)
        else:
            attended, weights = fused(query, key, value, mask, dropout, self.scaling, groups=1, causal=False), None
        attended = joined_heads(attended)
        attended = self.o_proj(attended)
        return attended, weights

    def eager(self, query, key, value, mask, dropout):
        weights = scores(query, key, mask, self.scaling)
        weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
        weights = nn.functional.dropout(weights, p=dropout, training=self.training)
        attended = torch.matmul(weights, value)
        attended = attended.transpose(1, 2).contiguous()
        return attended, weights


class SwinMLP(nn.Module):
    def __init__(self, config, width):
        super().__init__()
        self.activation_fn = ACTIVATIONS[config.hidden_act]
        self.fc1 = nn.Linear(width, int(config.mlp_ratio * width))
        self.fc2 = nn.Linear(int(config.mlp_ratio * width), width)

    def forward(self, x):
        x = self.fc1(x)
        x = self.activation_fn(x)
        x = self.fc2(x)
        return x


class SwinLayer(nn.Module):
    def __init__(self, config, width, heads, rate, shift):
        super().__init__()
        self.attention = SwinAttention(config, width, heads)
        self.layernorm_before = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.layernorm_after = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.mlp = SwinMLP(config, width)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.edge = config.window_size
        self.shift = shift
        self.drop_path = DropPath(rate) if rate > 0.0 else nn.Identity()

    def mask(self, height, breadth, x):
        """Zero where two places were neighbours before the shift, far below where not."""
        if self.shift <= 0:
            return None
        rows = torch.arange(height, device=x.device)
        columns = torch.arange(breadth, device=x.device)
        row_regions = (rows >= height - self.edge).long() + (rows >= height - self.shift).long()
        column_regions = (columns >= breadth - self.edge).long() + (columns >= breadth - self.shift).long()
        regions = (row_regions[None, :, None, None] * 3 + column_regions[None, None, :, None]).to(x.dtype)
        regions = windows_of(regions, self.edge).view(-1, self.edge * self.edge)
        mask = regions.unsqueeze(1) - regions.unsqueeze(2)
        mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
        return mask

    def shifted(self, x, way):
        if self.shift > 0:
            x = torch.roll(x, shifts=(way * self.shift, way * self.shift), dims=(1, 2))
        return x

    def forward(self, x, size):
        if min(size) <= self.edge:
            self.shift, self.edge = 0, min(size)
        height, breadth = size
        batch, _, width = x.shape
        before, edge = x, self.edge
        x = self.layernorm_before(x)
        x = x.view(batch, height, breadth, width)
        right, down = (edge - breadth % edge) % edge, (edge - height % edge) % edge
        x = nn.functional.pad(x, (0, 0, 0, right, 0, down))
        high, wide = height + down, breadth + right
        windows = windows_of(self.shifted(x, -1), edge).view(-1, edge * edge, width)
        mask = self.mask(high, wide, x)
        attended, weights = self.attention(windows, mask)
        attended = self.dropout(attended)
        made = attended.view(-1, edge, edge, width)
        made = self.shifted(picture_of(made, edge, high, wide), 1)
        if right or down:
            made = made[:, :height, :breadth, :].contiguous()
        made = made.view(batch, height * breadth, width)
        x = before + self.drop_path(made)
        before = x
        x = self.layernorm_after(x)
        x = self.mlp(x)
        x = self.dropout(x) + before
        return x


class SwinStage(nn.Module):
    def __init__(self, config, width, heads, each, merges):
        super().__init__()
        half = config.window_size // 2
        self.blocks = nn.ModuleList([SwinLayer(config, width, heads, rate, half if place % 2 else 0) for place, rate in enumerate(each)])
        self.downsample = SwinPatchMerging(width) if merges else None

    def forward(self, x, size):
        for block in self.blocks:
            x = block(x, size)
        before = x
        if self.downsample is not None:
            x = self.downsample(before, size)
            size = ((size[0] + 1) // 2, (size[1] + 1) // 2)
        # The library sees the last picture with its channels first, whether anybody asked for it or not.
        seen = x.view(x.shape[0], *size, x.shape[-1]).permute(0, 3, 1, 2).contiguous()
        return x, seen, size


class SwinEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        every, stages = rates(config.drop_path_rate, sum(config.depths)), []
        for place, count in enumerate(config.depths):
            merges = place + 1 < len(config.depths)
            stages.append(SwinStage(config, int(config.embed_dim * 2**place), config.num_heads[place], every[:count], merges))
            every = every[count:]
        self.layers = nn.ModuleList(stages)

    def forward(self, x, size):
        for stage in self.layers:
            x, seen, size = stage(x, size)
        return ModelOutput(last_hidden_state=x)


class SwinModel(PretrainedModel):
    def __init__(self, config, add_pooling_layer=True):
        super().__init__(config)
        self.embeddings = SwinEmbeddings(config)
        self.encoder = SwinEncoder(config)
        self.layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.pooler = nn.AdaptiveAvgPool1d(1) if add_pooling_layer else None

    def forward(self, pixel_values=None, **others):
        embedded, size = self.embeddings(pixel_values)
        encoded = self.encoder(embedded, size)
        x = encoded.last_hidden_state
        x = self.layernorm(x)
        pooled = torch.flatten(self.pooler(x.transpose(1, 2)), 1) if self.pooler is not None else None
        return ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=None)


class SwinForImageClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.swin = SwinModel(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels) if config.num_labels > 0 else nn.Identity()

    def forward(self, pixel_values=None, labels=None, **others):
        outputs = self.swin(pixel_values)
        pooled = outputs.pooler_output
        logits = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None)


def build(config):
    """The image classifier: what ``AutoModelForImageClassification`` gives."""
    return SwinForImageClassification(config)
