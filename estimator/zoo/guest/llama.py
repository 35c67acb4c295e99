"""Llama. Mirrors transformers 5.24.0 (``models/llama``): parameter names and the operations of a training step, in their order.

Mistral and Qwen2 differ in biases and defaults only; they, Qwen3 and Phi-3 are built from these classes.
"""

from functools import partial

import torch
from preflight_zoo.attention import causal_mask, split_heads
from preflight_zoo.cache import DynamicCache
from preflight_zoo.decoder_attention import DecoderAttention
from preflight_zoo.language_heads import CausalHead, SequenceHead
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn


class LlamaConfig(Configuration):
    #: Whether queries, keys and values have a bias of their own, whatever ``attention_bias`` says.
    qkv_bias = False

    def __init__(
        self, vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=None, head_dim=None, hidden_act="silu", max_position_embeddings=2048, rms_norm_eps=1e-6, use_cache=True,
        pad_token_id=None, tie_word_embeddings=False, rope_theta=10000.0, attention_bias=False, attention_dropout=0.0, mlp_bias=False,
        **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_attention_heads if num_key_value_heads is None else num_key_value_heads
        self.head_dim = hidden_size // num_attention_heads if head_dim is None else head_dim
        self.hidden_act = hidden_act
        self.max_position_embeddings = max_position_embeddings
        self.rms_norm_eps = rms_norm_eps
        self.use_cache = use_cache
        self.pad_token_id = pad_token_id
        self.tie_word_embeddings = tie_word_embeddings
        self.rope_theta = rope_theta
        self.attention_bias = attention_bias
        self.attention_dropout = attention_dropout
        self.mlp_bias = mlp_bias


class LlamaRMSNorm(nn.Module):
    """Normalisation by the root mean square, written out and in float32."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.to(dtype)


class LlamaRotaryEmbedding(nn.Module):
    """Cosines and sines of the positions, made anew each forward from the frequencies."""

    def __init__(self, config):
        super().__init__()
        frequencies = 1.0 / (config.rope_theta ** (torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim))
        self.register_buffer("inv_freq", frequencies, persistent=False)
        self.register_buffer("original_inv_freq", frequencies.clone(), persistent=False)

    def forward(self, x, position_ids):
        angles = position_ids[..., None].float() * self.inv_freq.to(device=x.device, dtype=torch.float32)
        both = torch.cat((angles, angles), dim=-1)
        cosine = both.cos() * 1.0
        sine = both.sin() * 1.0
        return cosine.to(dtype=x.dtype), sine.to(dtype=x.dtype)


def turned(x):
    """The halves of each head exchanged, the second negated."""
    first = x[..., : x.shape[-1] // 2]
    second = x[..., x.shape[-1] // 2 :]
    return torch.cat((-second, first), dim=-1)


def rotated(query, key, cosine, sine):
    """Queries and keys turned by their positions' angles."""
    cosine = cosine.unsqueeze(1)
    sine = sine.unsqueeze(1)
    turned_query = (query * cosine) + (turned(query) * sine)
    turned_key = (key * cosine) + (turned(key) * sine)
    return turned_query, turned_key


ACTIVATIONS = {
    "silu": nn.functional.silu, "gelu": nn.functional.gelu, "gelu_pytorch_tanh": partial(nn.functional.gelu, approximate="tanh"),
}  # fmt: skip


class LlamaMLP(nn.Module):
    def __init__(self, config, inner=None):
        super().__init__()
        inner = config.intermediate_size if inner is None else inner
        self.gate_proj = nn.Linear(config.hidden_size, inner, bias=config.mlp_bias)
        self.up_proj = nn.Linear(config.hidden_size, inner, bias=config.mlp_bias)
        self.down_proj = nn.Linear(inner, config.hidden_size, bias=config.mlp_bias)
        self.act_fn = ACTIVATIONS[config.hidden_act]

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class LlamaAttention(DecoderAttention):
    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer = layer
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.scaling = config.head_dim**-0.5
        bias = config.attention_bias or config.qkv_bias
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * config.head_dim, bias=bias)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * config.head_dim, bias=bias)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * config.head_dim, bias=bias)
        self.o_proj = nn.Linear(config.num_attention_heads * config.head_dim, config.hidden_size, bias=config.attention_bias)

    def projected(self, x):
        query = split_heads(self.q_proj(x), self.config.head_dim)
        key = split_heads(self.k_proj(x), self.config.head_dim)
        value = split_heads(self.v_proj(x), self.config.head_dim)
        return query, key, value

    def placed(self, query, key, positions):
        cosine, sine = positions
        return rotated(query, key, cosine, sine)


class LlamaDecoderLayer(Block):
    attention_class = LlamaAttention
    mlp_class = LlamaMLP
    norm_class = LlamaRMSNorm

    def __init__(self, config, layer):
        super().__init__()
        self.self_attn = self.attention_class(config, layer)
        self.mlp = self.feed_forward(config, layer)
        self.input_layernorm = self.norm_class(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = self.norm_class(config.hidden_size, config.rms_norm_eps)

    def feed_forward(self, config, layer):
        return self.mlp_class(config)

    def compute(self, x, cache, mask, positions, position_ids):
        before = x
        x = self.input_layernorm(x)
        # The weights of eager attention stay named until the layer returns, as they do in the library.
        x, weights = self.self_attn(x, positions, mask, cache)
        x = before + x
        before = x
        x = self.post_attention_layernorm(x)
        x = self.mlp(x)
        x = before + x
        return x


class LlamaModel(PretrainedModel):
    layer_class = LlamaDecoderLayer
    norm_class = LlamaRMSNorm
    embedding_class = nn.Embedding

    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = self.embedding_class(config.vocab_size, config.hidden_size, config.pad_token_id)
        self.layers = nn.ModuleList([self.layer_class(config, layer) for layer in range(config.num_hidden_layers)])
        self.norm = self.norm_class(config.hidden_size, config.rms_norm_eps)
        self.rotary_emb = LlamaRotaryEmbedding(config)

    def get_input_embeddings(self):
        return self.embed_tokens

    def mask(self, embeds, padding, position_ids, cache, seen):
        return causal_mask(self.config, embeds, padding, position_ids, cache, seen)

    def forward(
        self, input_ids=None, attention_mask=None, position_ids=None, cache=None, inputs_embeds=None, use_cache=None, past_key_values=None,
        output_hidden_states=False, **others,
    ):  # fmt: skip
        use_cache = self.caches(use_cache)
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids)
        cache = past_key_values if cache is None else cache
        if use_cache and cache is None:
            cache = DynamicCache(self.config)
        seen = cache.get_seq_length() if cache is not None else 0
        if position_ids is None:
            position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + seen
            position_ids = position_ids.unsqueeze(0)
        mask = self.mask(inputs_embeds, attention_mask, position_ids, cache, seen)
        x = inputs_embeds
        positions = self.rotary_emb(x, position_ids)
        states = [] if output_hidden_states else None
        for layer in self.layers:
            if states is not None:
                states.append(x)
            x = layer(x, cache=cache, mask=mask, positions=positions, position_ids=position_ids)
        x = self.norm(x)
        if states is not None:
            states.append(x)
        return ModelOutput(
            last_hidden_state=x, cache=cache if use_cache else None, hidden_states=None if states is None else tuple(states), attentions=None
        )


class LlamaForCausalLM(CausalHead):
    model_class = LlamaModel

    def __init__(self, config):
        super().__init__(config)
        self.model = self.model_class(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight


class LlamaForSequenceClassification(SequenceHead):
    model_class = LlamaModel

    def __init__(self, config):
        super().__init__(config)
        self.model = self.model_class(config)
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False)


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return LlamaForCausalLM(config)
