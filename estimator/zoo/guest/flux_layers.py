"""The blocks of Flux. Mirrors diffusers 0.42.1 (``models/transformers/transformer_flux.py``, ``models/normalization.py``), as ``flux`` does."""

import torch
from torch import nn


class Modulation(nn.Module):
    """Layer normalisation, scaled and shifted by the step's embedding; what else ``parts`` of it are told is handed on."""

    def __init__(self, width, parts):
        super().__init__()
        self.parts = parts
        self.silu = nn.SiLU()
        self.linear = nn.Linear(width, parts * width)
        self.norm = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)

    def forward(self, x, emb):
        emb = self.linear(self.silu(emb))
        shift, scale, *others = emb.chunk(self.parts, dim=1)
        x = self.norm(x) * (1 + scale[:, None]) + shift[:, None]
        return (x, *others)


class FinalModulation(Modulation):
    """Before the last projection: scale and shift alone."""

    def forward(self, x, emb):
        emb = self.linear(self.silu(emb).to(x.dtype))
        scale, shift = emb.chunk(2, dim=1)
        return self.norm(x) * (1 + scale)[:, None, :] + shift[:, None, :]


def rotated(x, waves):
    """Queries or keys (batch, places, heads, size), each pair turned by its place."""
    cos, sin = waves
    cos = cos[None, :, None, :]
    sin = sin[None, :, None, :]
    real, imaginary = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
    turned = torch.stack([-imaginary, real], dim=-1).flatten(3)
    return (x.float() * cos + turned.float() * sin).to(x.dtype)


class FluxAttention(nn.Module):
    """Pictures and texts look at each other; ``alone``: they come as one."""

    def __init__(self, width, heads, size, alone):
        super().__init__()
        self.heads = heads
        self.norm_q = nn.RMSNorm(size, eps=1e-6)
        self.norm_k = nn.RMSNorm(size, eps=1e-6)
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        if not alone:
            self.to_out = nn.ModuleList([nn.Linear(width, width), nn.Dropout(0.0)])
            self.norm_added_q = nn.RMSNorm(size, eps=1e-6)
            self.norm_added_k = nn.RMSNorm(size, eps=1e-6)
            self.add_q_proj = nn.Linear(width, width)
            self.add_k_proj = nn.Linear(width, width)
            self.add_v_proj = nn.Linear(width, width)
            self.to_add_out = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1))

    def forward(self, x, encoded, waves):
        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)
        added = None if encoded is None else (self.add_q_proj(encoded), self.add_k_proj(encoded), self.add_v_proj(encoded))
        query, key, value = self.split(query), self.split(key), self.split(value)
        query = self.norm_q(query)
        key = self.norm_k(key)
        if added is not None:
            more_query, more_key, more_value = [self.split(each) for each in added]
            added = None
            more_query = self.norm_added_q(more_query)
            more_key = self.norm_added_k(more_key)
            query = torch.cat([more_query, query], dim=1)
            key = torch.cat([more_key, key], dim=1)
            value = torch.cat([more_value, value], dim=1)
        query = rotated(query, waves)
        key = rotated(key, waves)
        query, key, value = [each.permute(0, 2, 1, 3) for each in (query, key, value)]
        x = nn.functional.scaled_dot_product_attention(query, key, value)
        x = x.permute(0, 2, 1, 3)
        x = x.flatten(2, 3)
        x = x.to(query.dtype)
        if encoded is None:
            return x
        words = encoded.shape[1]
        encoded, x = x.split([words, x.shape[1] - words], dim=1)
        x = self.to_out[0](x.contiguous())
        x = self.to_out[1](x)
        encoded = self.to_add_out(encoded.contiguous())
        return x, encoded


class GELU(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.proj = nn.Linear(width, hidden)

    def forward(self, x):
        x = self.proj(x)
        return nn.functional.gelu(x, approximate="tanh")


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.ModuleList([GELU(width, width * 4), nn.Dropout(0.0), nn.Linear(width * 4, width)])

    def forward(self, x):
        for layer in self.net:
            x = layer(x)
        return x


class FluxTransformerBlock(nn.Module):
    """A stream for the picture and one for the text."""

    def __init__(self, width, heads, size):
        super().__init__()
        self.norm1 = Modulation(width, 6)
        self.norm1_context = Modulation(width, 6)
        self.attn = FluxAttention(width, heads, size, False)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.ff = FeedForward(width)
        self.norm2_context = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.ff_context = FeedForward(width)

    def forward(self, x, encoded, emb, waves):
        normed, gate, shift_after, scale_after, gate_after = self.norm1(x, emb)
        normed_text, text_gate, text_shift, text_scale, text_gate_after = self.norm1_context(encoded, emb)
        attended, attended_text = self.attn(normed, normed_text, waves)
        attended = gate.unsqueeze(1) * attended
        x = x + attended
        normed = self.norm2(x)
        normed = normed * (1 + scale_after[:, None]) + shift_after[:, None]
        made = self.ff(normed)
        made = gate_after.unsqueeze(1) * made
        x = x + made
        attended_text = text_gate.unsqueeze(1) * attended_text
        encoded = encoded + attended_text
        normed_text = self.norm2_context(encoded)
        normed_text = normed_text * (1 + text_scale[:, None]) + text_shift[:, None]
        made_text = self.ff_context(normed_text)
        encoded = encoded + text_gate_after.unsqueeze(1) * made_text
        return encoded, x


class FluxSingleTransformerBlock(nn.Module):
    """Text and picture in one stream."""

    def __init__(self, width, heads, size):
        super().__init__()
        self.norm = Modulation(width, 3)
        self.proj_mlp = nn.Linear(width, width * 4)
        self.act_mlp = nn.GELU(approximate="tanh")
        self.proj_out = nn.Linear(width * 5, width)
        self.attn = FluxAttention(width, heads, size, True)

    def forward(self, x, encoded, emb, waves):
        words = encoded.shape[1]
        x = torch.cat([encoded, x], dim=1)
        before = x
        normed, gate = self.norm(x, emb)
        wide = self.act_mlp(self.proj_mlp(normed))
        attended = self.attn(normed, None, waves)
        x = torch.cat([attended, wide], dim=2)
        gate = gate.unsqueeze(1)
        x = gate * self.proj_out(x)
        x = before + x
        encoded, x = x[:, :words], x[:, words:]
        return encoded, x
