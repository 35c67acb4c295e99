"""Multi-head attention as a module."""

import torch
import torch.nn.functional as F
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Projections of query, key and value in one weight (or three), attention, and a projection of the result."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None):
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        options = {"device": device, "dtype": dtype}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(torch.empty((3 * embed_dim, embed_dim), **options))
            self.register_parameter("q_proj_weight", None)
            self.register_parameter("k_proj_weight", None)
            self.register_parameter("v_proj_weight", None)
        else:
            self.q_proj_weight = Parameter(torch.empty((embed_dim, embed_dim), **options))
            self.k_proj_weight = Parameter(torch.empty((embed_dim, self.kdim), **options))
            self.v_proj_weight = Parameter(torch.empty((embed_dim, self.vdim), **options))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(torch.empty(3 * embed_dim, **options))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False):
        if self.batch_first:
            if key is value:
                if query is key:
                    query = key = value = query.transpose(1, 0)
                else:
                    query, key = (x.transpose(1, 0) for x in (query, key))
                    value = key
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))
        output, weights = self._attend(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal)
        return (output.transpose(1, 0), weights) if self.batch_first else (output, weights)

    def _project(self, query, key, value):
        """Queries, keys and values; one product where all are projections of one tensor."""
        if not self._qkv_same_embed_dim:
            biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
            return (F.linear(query, self.q_proj_weight, biases[0]), F.linear(key, self.k_proj_weight, biases[1]),
                    F.linear(value, self.v_proj_weight, biases[2]))
        size = self.embed_dim
        if key is value and query is key:
            packed = F.linear(query, self.in_proj_weight, self.in_proj_bias)
            packed = packed.unflatten(-1, (3, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return packed[0], packed[1], packed[2]
        if key is value:
            weight_q, weight_kv = self.in_proj_weight.split([size, 2 * size])
            bias_q, bias_kv = (None, None) if self.in_proj_bias is None else self.in_proj_bias.split([size, 2 * size])
            projected = F.linear(query, weight_q, bias_q)
            packed = F.linear(key, weight_kv, bias_kv)
            packed = packed.unflatten(-1, (2, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return projected, packed[0], packed[1]
        weights = self.in_proj_weight.chunk(3)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return tuple(F.linear(x, weight, bias) for x, weight, bias in zip((query, key, value), weights, biases))

    def _mask(self, attn_mask, key_padding_mask, batch, targets, sources, dtype):
        """Both masks as one to add to the scores of (batch, heads, targets, sources)."""
        if attn_mask is not None:
            attn_mask = self._additive(attn_mask, dtype)
            attn_mask = attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask
        if key_padding_mask is not None:
            key_padding_mask = self._additive(key_padding_mask, dtype)
            key_padding_mask = key_padding_mask.view(batch, 1, 1, sources).expand(-1, self.num_heads, -1, -1).reshape(batch * self.num_heads, 1, sources)
            attn_mask = key_padding_mask if attn_mask is None else attn_mask + key_padding_mask
        return attn_mask

    def _additive(self, mask, dtype):
        if mask.dtype == torch.bool:
            return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))
        return mask

    def _attend(self, query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal):
        targets, batch, size = query.shape
        sources = key.shape[0]
        dtype = query.dtype
        if is_causal and key_padding_mask is None and not need_weights:
            attn_mask = None
        else:
            is_causal = False
        q, k, v = self._project(query, key, value)
        attn_mask = self._mask(attn_mask, key_padding_mask, batch, targets, sources, dtype)
        heads, width = self.num_heads, self.head_dim
        q = q.view(targets, batch * heads, width).transpose(0, 1)
        k = k.view(k.shape[0], batch * heads, width).transpose(0, 1)
        v = v.view(v.shape[0], batch * heads, width).transpose(0, 1)
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            scaled = q * (1.0 / width) ** 0.5
            if attn_mask is not None:
                weights = torch.baddbmm(attn_mask, scaled, k.transpose(-2, -1))
            else:
                weights = torch.bmm(scaled, k.transpose(-2, -1))
            weights = F.softmax(weights, dim=-1)
            if dropout > 0.0:
                weights = F.dropout(weights, p=dropout)
            output = torch.bmm(weights, v)
            output = output.transpose(0, 1).contiguous().view(targets * batch, size)
            output = F.linear(output, self.out_proj.weight, self.out_proj.bias)
            output = output.view(targets, batch, output.size(1))
            weights = weights.view(batch, heads, targets, sources)
            return output, weights.mean(dim=1) if average_attn_weights else weights
        if attn_mask is not None:
            if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
                attn_mask = attn_mask.unsqueeze(0)
            else:
                attn_mask = attn_mask.view(batch, heads, -1, sources)
        q = q.view(batch, heads, targets, width)
        k = k.view(batch, heads, sources, width)
        v = v.view(batch, heads, sources, width)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout, is_causal)
        output = output.permute(2, 0, 1, 3).contiguous().view(batch * targets, size)
        output = F.linear(output, self.out_proj.weight, self.out_proj.bias)
        return output.view(targets, batch, output.size(1)), None
