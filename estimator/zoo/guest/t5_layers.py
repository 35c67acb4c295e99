"""The layers of T5. Mirrors transformers 5.24.0 (``models/t5``), as ``t5`` does.

Positions are a bias for every pair of places, computed in the first layer and added in all: the fused kernels take it as a mask, each
layer in a copy of its own.
"""

import math

import torch
from preflight_zoo.attention import fused, joined_heads, split_heads
from preflight_zoo.gpt2 import gelu_new
from preflight_zoo.pretrained import Block, Switched
from preflight_zoo.seq2seq import keys_and_values
from torch import nn

ACTIVATIONS = {"relu": nn.functional.relu, "gelu": gelu_new, "gelu_new": gelu_new, "silu": nn.functional.silu}


class T5LayerNorm(nn.Module):
    """Scale without shift or mean, the variance in float32."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        if self.weight.dtype in (torch.float16, torch.bfloat16):
            x = x.to(self.weight.dtype)
        return self.weight * x


class T5Dense(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gated = config.is_gated_act
        if self.gated:
            self.wi_0 = nn.Linear(config.d_model, config.d_ff, bias=False)
            self.wi_1 = nn.Linear(config.d_model, config.d_ff, bias=False)
        else:
            self.wi = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.wo = nn.Linear(config.d_ff, config.d_model, bias=False)
        self.dropout = nn.Dropout(config.dropout_rate)
        self.act = ACTIVATIONS[config.dense_act_fn]

    def forward(self, x):
        if self.gated:
            opened = self.act(self.wi_0(x))
            plain = self.wi_1(x)
            x = opened * plain
        else:
            x = self.wi(x)
            x = self.act(x)
        x = self.dropout(x)
        if x.dtype != self.wo.weight.dtype:
            x = x.to(self.wo.weight.dtype)
        x = self.wo(x)
        return x


class T5LayerFF(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.DenseReluDense = T5Dense(config)
        self.layer_norm = T5LayerNorm(config.d_model, config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x):
        made = self.layer_norm(x)
        made = self.DenseReluDense(made)
        x = x + self.dropout(made)
        return x


class T5Attention(Switched):
    def __init__(self, config, layer, with_positions, causal):
        super().__init__()
        self.config = config
        self.layer = layer
        self.causal = causal
        self.inner = config.num_heads * config.d_kv
        self.q = nn.Linear(config.d_model, self.inner, bias=False)
        self.k = nn.Linear(config.d_model, self.inner, bias=False)
        self.v = nn.Linear(config.d_model, self.inner, bias=False)
        self.o = nn.Linear(self.inner, config.d_model, bias=False)
        self.with_positions = with_positions
        if with_positions:
            self.relative_attention_bias = nn.Embedding(config.relative_attention_num_buckets, config.num_heads)

    def buckets(self, distance):
        """The bucket of each distance between two places: exact when near, logarithmic when far."""
        count, found = self.config.relative_attention_num_buckets, 0
        if not self.config.is_decoder:
            count //= 2
            found += (distance > 0).to(torch.long) * count
            distance = torch.abs(distance)
        else:
            distance = -torch.min(distance, torch.zeros_like(distance))
        exact = count // 2
        near = distance < exact
        span = math.log(self.config.relative_attention_max_distance / exact)
        far = exact + (torch.log(distance.float() / exact) / span * (count - exact)).to(torch.long)
        far = torch.min(far, torch.full_like(far, count - 1))
        found += torch.where(near, distance, far)
        return found

    def positions(self, queries, keys, seen, x):
        if not self.with_positions:
            none = torch.zeros((1, self.config.num_heads, queries, keys), device=x.device, dtype=x.dtype)
            if self.gradient_checkpointing and self.training:
                none.requires_grad = True
            return none
        device = self.relative_attention_bias.weight.device
        rows = torch.arange(queries, dtype=torch.long, device=device)[:, None] + seen
        columns = torch.arange(keys, dtype=torch.long, device=device)[None, :]
        distance = columns - rows
        bucket = self.buckets(distance)
        values = self.relative_attention_bias(bucket)
        return values.permute([2, 0, 1]).unsqueeze(0)

    def projected(self, states):
        return split_heads(self.k(states), self.config.d_kv), split_heads(self.v(states), self.config.d_kv)

    def forward(self, x, mask, bias, cache, encoded=None):
        seen = cache.get_seq_length(self.layer) if cache is not None else 0
        query = split_heads(self.q(x), self.config.d_kv)
        states = x if encoded is None else encoded
        key, value = keys_and_values(self, states, cache, self.layer, encoded is not None)
        if bias is None:
            bias = self.positions(x.shape[1], key.shape[-2], seen, query)
        dropout = self.config.dropout_rate if self.training else 0.0
        if self.config._attn_implementation == "eager":
            attended, weights = self.eager(query, key, value, mask, bias, dropout)
        else:
            attended, weights = fused(query, key, value, mask, dropout, 1.0, 1, self.causal, bias=bias), None
        attended = joined_heads(attended)
        attended = self.o(attended)
        return attended, bias, weights

    def eager(self, query, key, value, mask, bias, dropout):
        weights = torch.matmul(query, key.transpose(2, 3)) * 1.0
        weights = weights + bias
        if mask is not None:
            weights = weights + mask
        weights = nn.functional.softmax(weights, dim=-1)
        weights = nn.functional.dropout(weights, p=dropout, training=self.training)
        attended = torch.matmul(weights, value)
        attended = attended.transpose(1, 2).contiguous()
        return attended, weights


class T5LayerAttention(nn.Module):
    """Attention on the normalised states, added to them. The attention's name in the library tells the two kinds apart."""

    def __init__(self, config, layer, with_positions, crossed):
        super().__init__()
        self.name = "EncDecAttention" if crossed else "SelfAttention"
        setattr(self, self.name, T5Attention(config, layer, with_positions, causal=config.is_decoder and not crossed))
        self.layer_norm = T5LayerNorm(config.d_model, config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x, mask, bias, cache, encoded=None):
        normed = self.layer_norm(x)
        attended, bias, weights = getattr(self, self.name)(normed, mask, bias, cache, encoded)
        x = x + self.dropout(attended)
        return x, bias, weights


def clamped(x):
    """Half-precision states are kept from infinity."""
    if x.dtype == torch.float16:
        most = torch.finfo(x.dtype).max - 1000
        x = torch.clamp(x, min=-most, max=most)
    return x


class T5Block(Block):
    def __init__(self, config, layer):
        super().__init__()
        self.is_decoder = config.is_decoder
        self.layer = nn.ModuleList([T5LayerAttention(config, layer, layer == 0, crossed=False)])
        if self.is_decoder:
            self.layer.append(T5LayerAttention(config, layer, False, crossed=True))
        self.layer.append(T5LayerFF(config))

    def compute(self, x, cache, mask, bias, encoded, encoded_mask, crossed_bias):
        x, bias, _ = self.layer[0](x, mask, bias, cache)
        x = clamped(x)
        if self.is_decoder:
            x, crossed_bias, _ = self.layer[1](x, encoded_mask, crossed_bias, cache, encoded)
            x = clamped(x)
        x = self.layer[-1](x)
        x = clamped(x)
        return x, bias, crossed_bias
