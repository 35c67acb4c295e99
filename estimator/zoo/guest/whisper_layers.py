"""The layers of Whisper. Mirrors transformers 5.24.0 (``models/whisper``), as ``whisper`` does: normalised before each part, heads copied."""

import torch
from preflight_zoo.attention import fused, joined_heads, scores, split_heads
from preflight_zoo.pretrained import Block
from preflight_zoo.seq2seq import keys_and_values
from torch import nn


class WhisperPositionalEmbedding(nn.Embedding):
    def forward(self, position_ids):
        return self.weight[position_ids]


class WhisperAttention(nn.Module):
    def __init__(self, config, heads, layer, causal=False):
        super().__init__()
        self.config = config
        self.layer = layer
        self.causal = causal
        self.head_size = config.d_model // heads
        self.k_proj = nn.Linear(config.d_model, config.d_model, bias=False)
        self.v_proj = nn.Linear(config.d_model, config.d_model)
        self.q_proj = nn.Linear(config.d_model, config.d_model)
        self.out_proj = nn.Linear(config.d_model, config.d_model)

    def projected(self, states):
        key = split_heads(self.k_proj(states), self.head_size).contiguous()
        value = split_heads(self.v_proj(states), self.head_size).contiguous()
        return key, value

    def forward(self, x, mask, cache=None, encoded=None):
        query = split_heads(self.q_proj(x) * self.head_size**-0.5, self.head_size).contiguous()
        key, value = keys_and_values(self, x if encoded is None else encoded, cache, self.layer, encoded is not None)
        dropout = self.config.attention_dropout if self.training else 0.0
        if self.config._attn_implementation == "eager":
            weights = scores(query, key, mask, 1.0)
            weights = nn.functional.softmax(weights, dim=-1)
            weights = nn.functional.dropout(weights, p=dropout, training=self.training)
            attended = torch.matmul(weights, value)
            attended = attended.transpose(1, 2).contiguous()
        else:
            attended, weights = fused(query, key, value, mask, dropout, 1.0, 1, self.causal), None
        attended = joined_heads(attended)
        attended = self.out_proj(attended)
        return attended, weights


class WhisperLayer(Block):
    """A layer of the encoder; the decoder's also looks at the encoder's states."""

    def __init__(self, config, layer, decoder=False):
        super().__init__()
        self.config = config
        self.decoder = decoder
        heads = config.decoder_attention_heads if decoder else config.encoder_attention_heads
        inner = config.decoder_ffn_dim if decoder else config.encoder_ffn_dim
        self.self_attn = WhisperAttention(config, heads, layer, causal=decoder)
        self.self_attn_layer_norm = nn.LayerNorm(config.d_model)
        if decoder:
            self.encoder_attn = WhisperAttention(config, heads, layer)
            self.encoder_attn_layer_norm = nn.LayerNorm(config.d_model)
        self.fc1 = nn.Linear(config.d_model, inner)
        self.fc2 = nn.Linear(inner, config.d_model)
        self.final_layer_norm = nn.LayerNorm(config.d_model)

    def dropped(self, x, rate):
        return nn.functional.dropout(x, p=rate, training=self.training)

    def compute(self, x, cache, mask, encoded=None):
        before = x
        x = self.self_attn_layer_norm(x)
        x, _ = self.self_attn(x, mask, cache)
        x = self.dropped(x, self.config.dropout)
        x = before + x
        if encoded is not None:
            before = x
            x = self.encoder_attn_layer_norm(x)
            x, _ = self.encoder_attn(x, None, cache, encoded)
            x = self.dropped(x, self.config.dropout)
            x = before + x
        before = x
        x = self.final_layer_norm(x)
        x = nn.functional.gelu(self.fc1(x))
        x = self.dropped(x, self.config.activation_dropout)
        x = self.fc2(x)
        x = self.dropped(x, self.config.dropout)
        x = before + x
        if not self.decoder and x.dtype == torch.float16:
            most = torch.finfo(x.dtype).max - 1000
            x = torch.clamp(x, min=-most, max=most)
        return x
