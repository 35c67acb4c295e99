"""The layers of CLIP's two towers. Mirrors transformers 5.24.0 (``models/clip``), as ``clip`` does."""

import torch
from preflight_zoo.attention import fused, joined_heads, scores, split_heads
from preflight_zoo.pretrained import Block
from torch import nn


def quick_gelu(x):
    """GELU by a sigmoid, written out: three tensors where a fused kernel has one."""
    return x * torch.sigmoid(1.702 * x)


ACTIVATIONS = {"quick_gelu": quick_gelu, "gelu": nn.functional.gelu}


class CLIPVisionEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.class_embedding = nn.Parameter(torch.randn(config.hidden_size))
        self.patch_embedding = nn.Conv2d(
            config.num_channels, config.hidden_size, kernel_size=config.patch_size, stride=config.patch_size, bias=False
        )
        places = (config.image_size // config.patch_size) ** 2 + 1
        self.position_embedding = nn.Embedding(places, config.hidden_size)
        self.register_buffer("position_ids", torch.arange(places).expand((1, -1)), persistent=False)

    def forward(self, pixel_values):
        patches = self.patch_embedding(pixel_values.to(dtype=self.patch_embedding.weight.dtype))
        patches = patches.flatten(2).transpose(1, 2)
        of_class = self.class_embedding.expand(pixel_values.shape[0], 1, -1)
        x = torch.cat([of_class, patches], dim=1)
        x = x + self.position_embedding(self.position_ids)
        return x


class CLIPTextEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embedding = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)), persistent=False)

    def forward(self, input_ids, position_ids=None):
        if position_ids is None:
            position_ids = self.position_ids[:, : input_ids.shape[-1]]
        embeds = self.token_embedding(input_ids)
        places = self.position_embedding(position_ids)
        return embeds + places


class CLIPAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.head_size = config.hidden_size // config.num_attention_heads
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.out_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x, mask, causal):
        query = self.q_proj(x)
        key = self.k_proj(x)
        value = self.v_proj(x)
        query = split_heads(query, self.head_size)
        key = split_heads(key, self.head_size)
        value = split_heads(value, self.head_size)
        dropout = self.config.attention_dropout if self.training else 0.0
        scaling = self.head_size**-0.5
        if self.config._attn_implementation == "eager":
            weights = scores(query, key, mask, scaling)
            weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
            weights = nn.functional.dropout(weights, p=dropout, training=self.training)
            attended = torch.matmul(weights, value)
            attended = attended.transpose(1, 2).contiguous()
        else:
            attended, weights = fused(query, key, value, mask, dropout, scaling, 1, causal), None
        attended = joined_heads(attended)
        attended = self.out_proj(attended)
        return attended, weights


class CLIPMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.act = ACTIVATIONS[config.hidden_act]
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        x = self.fc1(x)
        x = self.act(x)
        x = self.fc2(x)
        return x


class CLIPEncoderLayer(Block):
    def __init__(self, config):
        super().__init__()
        self.self_attn = CLIPAttention(config)
        self.layer_norm1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.mlp = CLIPMLP(config)
        self.layer_norm2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def compute(self, x, cache, mask, causal):
        before = x
        x = self.layer_norm1(x)
        x, _ = self.self_attn(x, mask, causal)
        x = before + x
        before = x
        x = self.layer_norm2(x)
        x = self.mlp(x)
        x = before + x
        return x


class CLIPEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList([CLIPEncoderLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, x, mask, causal, states=None):
        """``states`` takes in what every layer was given, and the last result."""
        for layer in self.layers:
            if states is not None:
                states.append(x)
            x = layer(x, mask=mask, causal=causal)
        if states is not None:
            states.append(x)
        return x
