"""Phi-1, 1.5 and 2. Mirrors transformers 5.24.0 (``models/phi``): attention and feed-forward side by side, a part of each head turned by positions."""

import torch
from preflight_zoo.attention import causal_mask, split_heads
from preflight_zoo.cache import DynamicCache
from preflight_zoo.gpt2 import ACTIVATIONS
from preflight_zoo.llama import LlamaForCausalLM, LlamaForSequenceClassification, LlamaRotaryEmbedding
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.phi3 import PartlyTurnedAttention
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn


class PhiConfig(Configuration):
    def __init__(
        self, vocab_size=51200, hidden_size=2048, intermediate_size=8192, num_hidden_layers=24, num_attention_heads=32, num_key_value_heads=None,
        resid_pdrop=0.0, embd_pdrop=0.0, attention_dropout=0.0, hidden_act="gelu_new", max_position_embeddings=2048, layer_norm_eps=1e-5, use_cache=True,
        tie_word_embeddings=False, partial_rotary_factor=0.5, rope_theta=10000.0, qk_layernorm=False, pad_token_id=None, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_attention_heads if num_key_value_heads is None else num_key_value_heads
        self.resid_pdrop = resid_pdrop
        self.embd_pdrop = embd_pdrop
        self.attention_dropout = attention_dropout
        self.hidden_act = hidden_act
        self.max_position_embeddings = max_position_embeddings
        self.layer_norm_eps = layer_norm_eps
        self.use_cache = use_cache
        self.tie_word_embeddings = tie_word_embeddings
        self.qk_layernorm = qk_layernorm
        self.pad_token_id = pad_token_id
        self.rope_theta = rope_theta
        self.head_size = hidden_size // num_attention_heads
        #: The width that is turned by positions, which is what the rotary embedding takes for a head.
        self.head_dim = int(self.head_size * partial_rotary_factor)


class PhiMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.activation_fn = ACTIVATIONS[config.hidden_act]
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        x = self.fc1(x)
        x = self.activation_fn(x)
        x = self.fc2(x)
        return x


class PhiAttention(PartlyTurnedAttention):
    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer = layer
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.scaling = config.head_size**-0.5
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * config.head_size)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * config.head_size)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * config.head_size)
        self.dense = nn.Linear(config.num_attention_heads * config.head_size, config.hidden_size)
        if config.qk_layernorm:
            self.q_layernorm = nn.LayerNorm(config.head_size, eps=config.layer_norm_eps)
            self.k_layernorm = nn.LayerNorm(config.head_size, eps=config.layer_norm_eps)

    def projected(self, x):
        size = self.config.head_size
        query = split_heads(self.q_proj(x), size)
        key = split_heads(self.k_proj(x), size)
        value = split_heads(self.v_proj(x), size)
        if self.config.qk_layernorm:
            query = self.q_layernorm(query)
            key = self.k_layernorm(key)
        return query, key, value

    def output(self, attended):
        return self.dense(attended)


class PhiDecoderLayer(Block):
    def __init__(self, config, layer):
        super().__init__()
        self.self_attn = PhiAttention(config, layer)
        self.mlp = PhiMLP(config)
        self.input_layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.resid_dropout = nn.Dropout(config.resid_pdrop)

    def compute(self, x, cache, mask, positions, position_ids):
        before = x
        x = self.input_layernorm(x)
        attended, weights = self.self_attn(x, positions, mask, cache)
        attended = self.resid_dropout(attended)
        fed = self.resid_dropout(self.mlp(x))
        x = attended + fed + before
        return x


class PhiModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, config.pad_token_id)
        self.layers = nn.ModuleList([PhiDecoderLayer(config, layer) for layer in range(config.num_hidden_layers)])
        self.rotary_emb = LlamaRotaryEmbedding(config)
        self.embed_dropout = nn.Dropout(config.embd_pdrop)
        self.final_layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def get_input_embeddings(self):
        return self.embed_tokens

    def forward(
        self, input_ids=None, attention_mask=None, position_ids=None, cache=None, inputs_embeds=None, use_cache=None, past_key_values=None, **others
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
        mask = causal_mask(self.config, inputs_embeds, attention_mask, position_ids, cache, seen)
        inputs_embeds = self.embed_dropout(inputs_embeds)
        x = inputs_embeds
        positions = self.rotary_emb(x, position_ids)
        for layer in self.layers:
            x = layer(x, cache=cache, mask=mask, positions=positions, position_ids=position_ids)
        x = self.final_layernorm(x)
        return ModelOutput(last_hidden_state=x, cache=cache if use_cache else None, hidden_states=None, attentions=None)


class PhiForCausalLM(LlamaForCausalLM):
    model_class = PhiModel

    def __init__(self, config):
        super().__init__(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=True)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight


class PhiForSequenceClassification(LlamaForSequenceClassification):
    model_class = PhiModel


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return PhiForCausalLM(config)
