"""Phi-3. Mirrors transformers 5.24.0 (``models/phi3``): Llama with queries, keys and values out of one product, and gate and value out of another.

Its sliding window is not modelled, since a window longer than the sequence changes nothing that is kept.
"""

import torch
from preflight_zoo.decoder_attention import DecoderAttention
from preflight_zoo.llama import LlamaConfig, LlamaDecoderLayer, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel, turned
from torch import nn


class Phi3Config(LlamaConfig):
    def __init__(
        self, vocab_size=32064, hidden_size=3072, intermediate_size=8192, rms_norm_eps=1e-5, max_position_embeddings=4096, pad_token_id=32000,
        resid_pdrop=0.0, **others,
    ):  # fmt: skip
        super().__init__(
            vocab_size=vocab_size, hidden_size=hidden_size, intermediate_size=intermediate_size, rms_norm_eps=rms_norm_eps,
            max_position_embeddings=max_position_embeddings, pad_token_id=pad_token_id, **others,
        )  # fmt: skip
        self.resid_pdrop = resid_pdrop


class Phi3MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up_proj = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x):
        x = self.gate_up_proj(x)
        gate, x = x.chunk(2, dim=-1)
        x = x * nn.functional.silu(gate)
        return self.down_proj(x)


def rotated(query, key, cosine, sine):
    """The first part of queries and keys turned by their positions' angles, the rest as it is."""
    cosine = cosine.unsqueeze(1)
    sine = sine.unsqueeze(1)
    part = cosine.shape[-1]
    query_part, query_rest = query[..., :part], query[..., part:]
    key_part, key_rest = key[..., :part], key[..., part:]
    turned_query = torch.cat([(query_part * cosine) + (turned(query_part) * sine), query_rest], dim=-1)
    turned_key = torch.cat([(key_part * cosine) + (turned(key_part) * sine), key_rest], dim=-1)
    return turned_query, turned_key


class PartlyTurnedAttention(DecoderAttention):
    """Positions turn a part of each head only."""

    def placed(self, query, key, positions):
        cosine, sine = positions
        return rotated(query, key, cosine, sine)


class Phi3Attention(PartlyTurnedAttention):
    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer = layer
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.scaling = config.head_dim**-0.5
        width = (config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim
        self.o_proj = nn.Linear(config.num_attention_heads * config.head_dim, config.hidden_size, bias=False)
        self.qkv_proj = nn.Linear(config.hidden_size, width, bias=False)

    def projected(self, x):
        config = self.config
        shape = (*x.shape[:-1], -1, config.head_dim)
        qkv = self.qkv_proj(x)
        first = config.num_attention_heads * config.head_dim
        second = first + config.num_key_value_heads * config.head_dim
        query = qkv[..., :first].view(shape).transpose(1, 2)
        key = qkv[..., first:second].view(shape).transpose(1, 2)
        value = qkv[..., second:].view(shape).transpose(1, 2)
        return query, key, value


class Phi3DecoderLayer(LlamaDecoderLayer):
    attention_class = Phi3Attention
    mlp_class = Phi3MLP


class Phi3Model(LlamaModel):
    layer_class = Phi3DecoderLayer


class Phi3ForCausalLM(LlamaForCausalLM):
    model_class = Phi3Model


class Phi3ForSequenceClassification(LlamaForSequenceClassification):
    model_class = Phi3Model


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return Phi3ForCausalLM(config)
