"""The layers of BART. Mirrors transformers 5.24.0 (``models/bart``), as ``bart`` does: normalised after each sum, learnt positions."""

import torch
from preflight_zoo.attention import fused, joined_heads, scores, split_heads
from preflight_zoo.pretrained import Block
from preflight_zoo.seq2seq import keys_and_values
from torch import nn

ACTIVATIONS = {"gelu": nn.functional.gelu, "relu": nn.functional.relu, "silu": nn.functional.silu}


class BartLearnedPositionalEmbedding(nn.Embedding):
    """Two more places than positions: the first two are never looked up."""

    def __init__(self, positions, width):
        super().__init__(positions + 2, width)

    def forward(self, like, seen=0, position_ids=None):
        if position_ids is None:
            batch, length = like.shape[:2]
            position_ids = torch.arange(seen, seen + length, dtype=torch.long, device=self.weight.device).expand(batch, -1)
        else:
            position_ids = position_ids.unsqueeze(0)
        return super().forward(position_ids + 2)


class BartScaledWordEmbedding(nn.Embedding):
    def __init__(self, count, width, padding_idx, scale=1.0):
        super().__init__(count, width, padding_idx)
        self.scale = scale

    def forward(self, input_ids):
        return super().forward(input_ids) * self.scale


class BartAttention(nn.Module):
    def __init__(self, config, heads, layer, causal=False):
        super().__init__()
        self.config = config
        self.layer = layer
        self.causal = causal
        self.head_size = config.d_model // heads
        self.k_proj = nn.Linear(config.d_model, config.d_model)
        self.v_proj = nn.Linear(config.d_model, config.d_model)
        self.q_proj = nn.Linear(config.d_model, config.d_model)
        self.out_proj = nn.Linear(config.d_model, config.d_model)

    def projected(self, states):
        key = self.k_proj(states)
        value = self.v_proj(states)
        return split_heads(key, self.head_size), split_heads(value, self.head_size)

    def forward(self, x, mask, cache=None, encoded=None):
        query = split_heads(self.q_proj(x), self.head_size)
        key, value = keys_and_values(self, x if encoded is None else encoded, cache, self.layer, encoded is not None)
        dropout = self.config.attention_dropout if self.training else 0.0
        scaling = self.head_size**-0.5
        if self.config._attn_implementation == "eager":
            weights = scores(query, key, mask, scaling)
            weights = nn.functional.softmax(weights, dim=-1)
            weights = nn.functional.dropout(weights, p=dropout, training=self.training)
            attended = torch.matmul(weights, value)
            attended = attended.transpose(1, 2).contiguous()
        else:
            attended, weights = fused(query, key, value, mask, dropout, scaling, 1, self.causal), None
        attended = joined_heads(attended)
        attended = self.out_proj(attended)
        return attended, weights


class BartLayer(Block):
    """A layer of the encoder; the decoder's also looks at the encoder's states."""

    def __init__(self, config, layer, decoder=False):
        super().__init__()
        self.config = config
        self.decoder = decoder
        heads = config.decoder_attention_heads if decoder else config.encoder_attention_heads
        inner = config.decoder_ffn_dim if decoder else config.encoder_ffn_dim
        self.self_attn = BartAttention(config, heads, layer, causal=decoder)
        self.self_attn_layer_norm = nn.LayerNorm(config.d_model)
        if decoder:
            self.encoder_attn = BartAttention(config, heads, layer)
            self.encoder_attn_layer_norm = nn.LayerNorm(config.d_model)
        self.fc1 = nn.Linear(config.d_model, inner)
        self.fc2 = nn.Linear(inner, config.d_model)
        self.final_layer_norm = nn.LayerNorm(config.d_model)
        self.act = ACTIVATIONS[config.activation_function]

    def dropped(self, x, rate):
        return nn.functional.dropout(x, p=rate, training=self.training)

    def compute(self, x, cache, mask, encoded=None, encoded_mask=None):
        before = x
        x, _ = self.self_attn(x, mask, cache)
        x = self.dropped(x, self.config.dropout)
        x = before + x
        x = self.self_attn_layer_norm(x)
        if encoded is not None:
            before = x
            x, _ = self.encoder_attn(x, encoded_mask, cache, encoded)
            x = self.dropped(x, self.config.dropout)
            x = before + x
            x = self.encoder_attn_layer_norm(x)
        before = x
        x = self.act(self.fc1(x))
        x = self.dropped(x, self.config.activation_dropout)
        x = self.fc2(x)
        x = self.dropped(x, self.config.dropout)
        x = before + x
        x = self.final_layer_norm(x)
        return x
