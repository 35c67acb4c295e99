"""GPT-NeoX and Pythia. Mirrors transformers 5.24.0 (``models/gpt_neox``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import causal_mask
from preflight_zoo.cache import DynamicCache
from preflight_zoo.language_heads import CausalHead, SequenceHead
from preflight_zoo.llama import LlamaRotaryEmbedding
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.phi3 import PartlyTurnedAttention
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn


class GPTNeoXConfig(Configuration):
    def __init__(
        self, vocab_size=50432, hidden_size=6144, num_hidden_layers=44, num_attention_heads=64, intermediate_size=24576, hidden_act="gelu",
        attention_dropout=0.0, hidden_dropout=0.0, max_position_embeddings=2048, layer_norm_eps=1e-5, use_cache=True, pad_token_id=None,
        tie_word_embeddings=False, use_parallel_residual=True, rotary_pct=0.25, rotary_emb_base=10000, attention_bias=True, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.attention_dropout = attention_dropout
        self.hidden_dropout = hidden_dropout
        self.max_position_embeddings = max_position_embeddings
        self.layer_norm_eps = layer_norm_eps
        self.use_cache = use_cache
        self.pad_token_id = pad_token_id
        self.tie_word_embeddings = tie_word_embeddings
        self.use_parallel_residual = use_parallel_residual
        self.attention_bias = attention_bias
        self.head_size = hidden_size // num_attention_heads
        #: The width that is turned by positions, which is what the rotary embedding takes for a head.
        self.head_dim = int(self.head_size * rotary_pct)
        self.rope_theta = rotary_emb_base


ACTIVATIONS = {"gelu": nn.functional.gelu, "relu": nn.functional.relu, "silu": nn.functional.silu}


class GPTNeoXMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense_h_to_4h = nn.Linear(config.hidden_size, config.intermediate_size)
        self.dense_4h_to_h = nn.Linear(config.intermediate_size, config.hidden_size)
        self.act = ACTIVATIONS[config.hidden_act]

    def forward(self, x):
        x = self.dense_h_to_4h(x)
        x = self.act(x)
        return self.dense_4h_to_h(x)


class GPTNeoXAttention(PartlyTurnedAttention):
    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer = layer
        self.scaling = config.head_size**-0.5
        self.query_key_value = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=config.attention_bias)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size, bias=config.attention_bias)

    def projected(self, x):
        shape = (*x.shape[:-1], -1, 3 * self.config.head_size)
        qkv = self.query_key_value(x).view(shape).transpose(1, 2)
        query, key, value = qkv.chunk(3, dim=-1)
        return query, key, value

    def output(self, attended):
        return self.dense(attended)


class GPTNeoXLayer(Block):
    def __init__(self, config, layer):
        super().__init__()
        self.parallel = config.use_parallel_residual
        self.input_layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.post_attention_layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.post_attention_dropout = nn.Dropout(config.hidden_dropout)
        self.post_mlp_dropout = nn.Dropout(config.hidden_dropout)
        self.attention = GPTNeoXAttention(config, layer)
        self.mlp = GPTNeoXMLP(config)

    def compute(self, x, cache, mask, positions, position_ids):
        attended, weights = self.attention(self.input_layernorm(x), positions, mask, cache)
        attended = self.post_attention_dropout(attended)
        if self.parallel:
            fed = self.mlp(self.post_attention_layernorm(x))
            fed = self.post_mlp_dropout(fed)
            return fed + attended + x
        attended = attended + x
        fed = self.mlp(self.post_attention_layernorm(attended))
        fed = self.post_mlp_dropout(fed)
        return fed + attended


class GPTNeoXModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_in = nn.Embedding(config.vocab_size, config.hidden_size)
        self.emb_dropout = nn.Dropout(config.hidden_dropout)
        self.layers = nn.ModuleList([GPTNeoXLayer(config, layer) for layer in range(config.num_hidden_layers)])
        self.final_layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.rotary_emb = LlamaRotaryEmbedding(config)

    def get_input_embeddings(self):
        return self.embed_in

    def forward(
        self, input_ids=None, attention_mask=None, position_ids=None, inputs_embeds=None, cache=None, use_cache=None, past_key_values=None, **others
    ):  # fmt: skip
        use_cache = self.caches(use_cache)
        if inputs_embeds is None:
            inputs_embeds = self.embed_in(input_ids)
        cache = past_key_values if cache is None else cache
        if use_cache and cache is None:
            cache = DynamicCache(self.config)
        seen = cache.get_seq_length() if cache is not None else 0
        if position_ids is None:
            position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + seen
            position_ids = position_ids.unsqueeze(0)
        mask = causal_mask(self.config, inputs_embeds, attention_mask, position_ids, cache, seen)
        x = self.emb_dropout(inputs_embeds)
        positions = self.rotary_emb(x, position_ids)
        for layer in self.layers:
            x = layer(x, cache=cache, mask=mask, positions=positions, position_ids=position_ids)
        x = self.final_layer_norm(x)
        return ModelOutput(last_hidden_state=x, cache=cache if use_cache else None, hidden_states=None, attentions=None)


class GPTNeoXForCausalLM(CausalHead):
    decoder_name = "gpt_neox"

    def __init__(self, config):
        super().__init__(config)
        self.gpt_neox = GPTNeoXModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.gpt_neox.embed_in.weight


class GPTNeoXForSequenceClassification(SequenceHead):
    decoder_name = "gpt_neox"

    def __init__(self, config):
        super().__init__(config)
        self.gpt_neox = GPTNeoXModel(config)
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False)


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return GPTNeoXForCausalLM(config)
