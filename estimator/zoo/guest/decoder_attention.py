"""How the layers of causal decoders attend; the families differ in their projections and in what positions do to queries and keys.

Mirrors transformers 5.24.0 (``LlamaAttention`` and those that are written like it).
"""

import torch
from preflight_zoo.attention import fused, joined_heads, repeat_heads, scores
from torch import nn


class DecoderAttention(nn.Module):
    """A family says ``projected`` and, where it is not ``o_proj``, ``output``; its ``scaling``, and its ``groups`` of query heads a key head."""

    groups = 1

    def placed(self, query, key, positions):
        return query, key

    def output(self, attended):
        return self.o_proj(attended)

    def forward(self, x, positions, mask, cache):
        query, key, value = self.projected(x)
        query, key = self.placed(query, key, positions)
        if cache is not None:
            key, value = cache.update(key, value, self.layer)
        dropout = self.config.attention_dropout if self.training else 0.0
        if self.config._attn_implementation == "eager":
            attended, weights = self.eager(query, key, value, mask, dropout)
        else:
            attended, weights = fused(query, key, value, mask, dropout, self.scaling, self.groups, causal=True), None
        attended = joined_heads(attended)
        attended = self.output(attended)
        return attended, weights

    def eager(self, query, key, value, mask, dropout):
        key = repeat_heads(key, self.groups)
        value = repeat_heads(value, self.groups)
        weights = scores(query, key, mask, self.scaling)
        weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
        weights = nn.functional.dropout(weights, p=dropout, training=self.training)
        attended = torch.matmul(weights, value)
        attended = attended.transpose(1, 2).contiguous()
        return attended, weights
