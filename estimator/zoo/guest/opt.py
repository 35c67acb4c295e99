"""OPT. Mirrors transformers 5.24.0 (``models/opt``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import causal_mask
from preflight_zoo.cache import DynamicCache
from preflight_zoo.decoder_attention import DecoderAttention
from preflight_zoo.language_heads import CausalHead, SequenceHead
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn


class OPTConfig(Configuration):
    def __init__(
        self, vocab_size=50272, hidden_size=768, num_hidden_layers=12, ffn_dim=3072, max_position_embeddings=2048, do_layer_norm_before=True,
        _remove_final_layer_norm=False, word_embed_proj_dim=None, dropout=0.1, attention_dropout=0.0, num_attention_heads=12,
        activation_function="relu", layerdrop=0.0, use_cache=True, pad_token_id=1, enable_bias=True, layer_norm_elementwise_affine=True,
        tie_word_embeddings=True, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.ffn_dim = ffn_dim
        self.max_position_embeddings = max_position_embeddings
        self.do_layer_norm_before = do_layer_norm_before
        self._remove_final_layer_norm = _remove_final_layer_norm
        self.word_embed_proj_dim = hidden_size if word_embed_proj_dim is None else word_embed_proj_dim
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.num_attention_heads = num_attention_heads
        self.activation_function = activation_function
        self.layerdrop = layerdrop
        self.use_cache = use_cache
        self.pad_token_id = pad_token_id
        self.enable_bias = enable_bias
        self.layer_norm_elementwise_affine = layer_norm_elementwise_affine
        self.tie_word_embeddings = tie_word_embeddings


ACTIVATIONS = {"relu": nn.functional.relu, "gelu": nn.functional.gelu}


class Positions(nn.Embedding):
    """Learned positions; the first two rows are never looked up."""

    def __init__(self, count, width):
        super().__init__(count + 2, width)

    def forward(self, position_ids):
        return super().forward(position_ids + 2)


class OPTAttention(DecoderAttention):
    #: Queries are scaled when they are made.
    scaling = 1.0

    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer = layer
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.enable_bias)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.enable_bias)
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.enable_bias)
        self.out_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.enable_bias)

    def by_heads(self, x):
        return x.view(x.shape[0], -1, self.heads, self.head_size).transpose(1, 2)

    def projected(self, x):
        query = self.q_proj(x) * self.head_size**-0.5
        query = self.by_heads(query)
        key = self.k_proj(x)
        value = self.v_proj(x)
        key = self.by_heads(key)
        value = self.by_heads(value)
        return query, key, value

    def output(self, attended):
        return self.out_proj(attended)


class OPTDecoderLayer(Block):
    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.self_attn = OPTAttention(config, layer)
        self.activation_fn = ACTIVATIONS[config.activation_function]
        self.self_attn_layer_norm = nn.LayerNorm(config.hidden_size, elementwise_affine=config.layer_norm_elementwise_affine)
        self.fc1 = nn.Linear(config.hidden_size, config.ffn_dim, bias=config.enable_bias)
        self.fc2 = nn.Linear(config.ffn_dim, config.hidden_size, bias=config.enable_bias)
        self.final_layer_norm = nn.LayerNorm(config.hidden_size, elementwise_affine=config.layer_norm_elementwise_affine)

    def dropped(self, x):
        return nn.functional.dropout(x, p=self.config.dropout, training=self.training)

    def compute(self, x, cache, mask, position_ids):
        norm_first = self.config.do_layer_norm_before
        before = x
        if norm_first:
            x = self.self_attn_layer_norm(x)
        x, weights = self.self_attn(x, None, mask, cache)
        x = self.dropped(x)
        x = before + x
        if not norm_first:
            x = self.self_attn_layer_norm(x)
        shape = x.shape
        x = x.reshape(-1, x.size(-1))
        before = x
        if norm_first:
            x = self.final_layer_norm(x)
        x = self.fc1(x)
        x = self.activation_fn(x)
        x = self.fc2(x)
        x = self.dropped(x)
        x = (before + x).view(shape)
        if not norm_first:
            x = self.final_layer_norm(x)
        return x


class OPTDecoder(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.word_embed_proj_dim, config.pad_token_id)
        self.embed_positions = Positions(config.max_position_embeddings, config.hidden_size)
        narrower = config.word_embed_proj_dim != config.hidden_size
        self.project_out = nn.Linear(config.hidden_size, config.word_embed_proj_dim, bias=False) if narrower else None
        self.project_in = nn.Linear(config.word_embed_proj_dim, config.hidden_size, bias=False) if narrower else None
        self.final_layer_norm = None
        if config.do_layer_norm_before and not config._remove_final_layer_norm:
            self.final_layer_norm = nn.LayerNorm(config.hidden_size, elementwise_affine=config.layer_norm_elementwise_affine)
        self.layers = nn.ModuleList([OPTDecoderLayer(config, layer) for layer in range(config.num_hidden_layers)])

    def forward(
        self, input_ids=None, attention_mask=None, cache=None, inputs_embeds=None, use_cache=None, position_ids=None, past_key_values=None, **others
    ):  # fmt: skip
        use_cache = self.caches(use_cache)
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids.view(-1, input_ids.shape[-1]))
        cache = past_key_values if cache is None else cache
        if use_cache and cache is None:
            cache = DynamicCache(self.config)
        seen = cache.get_seq_length() if cache is not None else 0
        places = attention_mask
        if places is None:
            places = torch.ones(inputs_embeds.shape[0], seen + inputs_embeds.shape[1], device=inputs_embeds.device)
        if position_ids is None:
            position_ids = torch.cumsum(places, dim=1)
            position_ids = (position_ids * places - 1).long()
            position_ids = position_ids[:, seen:]
        mask = causal_mask(self.config, inputs_embeds, attention_mask, None, cache, seen)
        positions = self.embed_positions(position_ids)
        if self.project_in is not None:
            inputs_embeds = self.project_in(inputs_embeds)
        x = inputs_embeds + positions
        for layer in self.layers:
            x = layer(x, cache=cache, mask=mask, position_ids=position_ids)
        if self.final_layer_norm is not None:
            x = self.final_layer_norm(x)
        if self.project_out is not None:
            x = self.project_out(x)
        return ModelOutput(last_hidden_state=x, cache=cache if use_cache else None, hidden_states=None, attentions=None)


class OPTModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.decoder = OPTDecoder(config)

    def get_input_embeddings(self):
        return self.decoder.embed_tokens

    def forward(self, input_ids=None, **others):
        return self.decoder(input_ids, **others)


class OPTForCausalLM(CausalHead):
    def __init__(self, config):
        super().__init__(config)
        self.model = OPTModel(config)
        self.lm_head = nn.Linear(config.word_embed_proj_dim, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.model.decoder.embed_tokens.weight

    def decoded(self, input_ids, **others):
        return self.model.decoder(input_ids=input_ids, **others)

    def scored(self, x):
        return self.lm_head(x).contiguous()


class OPTForSequenceClassification(SequenceHead):
    def __init__(self, config):
        super().__init__(config)
        self.model = OPTModel(config)
        self.score = nn.Linear(config.word_embed_proj_dim, config.num_labels, bias=False)


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return OPTForCausalLM(config)
