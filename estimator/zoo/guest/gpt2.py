"""GPT-2. Mirrors transformers 5.24.0 (``models/gpt2``): parameter names and the operations of a training step, in their order."""

import math

import torch
from preflight_zoo.attention import causal_mask, fused, joined_heads, scores, split_heads
from preflight_zoo.cache import DynamicCache
from preflight_zoo.language_heads import CausalHead
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn


class GPT2Config(Configuration):
    def __init__(
        self, vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12, n_inner=None, activation_function="gelu_new",
        resid_pdrop=0.1, embd_pdrop=0.1, attn_pdrop=0.1, layer_norm_epsilon=1e-5, scale_attn_weights=True,
        scale_attn_by_inverse_layer_idx=False, use_cache=True, pad_token_id=None, tie_word_embeddings=True, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.n_positions = n_positions
        self.n_embd = n_embd
        self.n_layer = n_layer
        self.n_head = n_head
        self.n_inner = n_inner
        self.activation_function = activation_function
        self.resid_pdrop = resid_pdrop
        self.embd_pdrop = embd_pdrop
        self.attn_pdrop = attn_pdrop
        self.layer_norm_epsilon = layer_norm_epsilon
        self.scale_attn_weights = scale_attn_weights
        self.scale_attn_by_inverse_layer_idx = scale_attn_by_inverse_layer_idx
        self.use_cache = use_cache
        self.pad_token_id = pad_token_id
        self.tie_word_embeddings = tie_word_embeddings
        self.hidden_size = n_embd
        self.num_hidden_layers = n_layer
        self.num_attention_heads = n_head
        self.max_position_embeddings = n_positions


class Conv1D(nn.Module):
    """A linear layer whose weight lies the other way round."""

    def __init__(self, outputs, inputs):
        super().__init__()
        self.outputs = outputs
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        shape = x.size()[:-1] + (self.outputs,)
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(shape)


def gelu_new(x):
    """GELU by its tanh approximation, written out: seven tensors where a fused kernel has one."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


ACTIVATIONS = {"gelu_new": gelu_new, "gelu": nn.functional.gelu, "relu": nn.functional.relu, "silu": nn.functional.silu}


class GPT2Attention(nn.Module):
    def __init__(self, config, layer):
        super().__init__()
        self.config = config
        self.layer = layer
        self.width = config.n_embd
        self.head_size = config.n_embd // config.n_head
        self.scaling = self.head_size**-0.5 if config.scale_attn_weights else 1.0
        if config.scale_attn_by_inverse_layer_idx:
            self.scaling = self.scaling / (layer + 1)
        self.c_attn = Conv1D(3 * config.n_embd, config.n_embd)
        self.c_proj = Conv1D(config.n_embd, config.n_embd)
        self.attn_dropout = nn.Dropout(config.attn_pdrop)
        self.resid_dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, x, mask, cache):
        query, key, value = self.c_attn(x).split(self.width, dim=2)
        key = split_heads(key, self.head_size)
        value = split_heads(value, self.head_size)
        query = split_heads(query, self.head_size)
        if cache is not None:
            key, value = cache.update(key, value, self.layer)
        dropout = self.attn_dropout.p if self.training else 0.0
        if self.config._attn_implementation == "eager":
            attended, weights = self.eager(query, key, value, mask, dropout)
        else:
            attended, weights = fused(query, key, value, mask, dropout, self.scaling, groups=1, causal=True), None
        attended = joined_heads(attended)
        attended = self.c_proj(attended)
        attended = self.resid_dropout(attended)
        return attended, weights

    def eager(self, query, key, value, mask, dropout):
        weights = scores(query, key, mask, self.scaling)
        weights = nn.functional.softmax(weights, dim=-1)
        weights = weights.type(value.dtype)
        weights = nn.functional.dropout(weights, p=dropout, training=self.training)
        attended = torch.matmul(weights, value)
        attended = attended.transpose(1, 2)
        return attended, weights


class GPT2MLP(nn.Module):
    def __init__(self, inner, config):
        super().__init__()
        self.c_fc = Conv1D(inner, config.n_embd)
        self.c_proj = Conv1D(config.n_embd, inner)
        self.act = ACTIVATIONS[config.activation_function]
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, x):
        x = self.c_fc(x)
        x = self.act(x)
        x = self.c_proj(x)
        x = self.dropout(x)
        return x


class GPT2Block(Block):
    def __init__(self, config, layer):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = GPT2Attention(config, layer)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = GPT2MLP(4 * config.n_embd if config.n_inner is None else config.n_inner, config)

    def compute(self, x, cache, mask, position_ids):
        before = x
        x = self.ln_1(x)
        attended, weights = self.attn(x, mask, cache)
        x = attended + before
        before = x
        x = self.ln_2(x)
        # The branches and the weights stay named until the block returns, as they do in the library.
        fed = self.mlp(x)
        x = before + fed
        return x


class GPT2Model(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_positions, config.n_embd)
        self.drop = nn.Dropout(config.embd_pdrop)
        self.h = nn.ModuleList([GPT2Block(config, layer) for layer in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)

    def get_input_embeddings(self):
        return self.wte

    def forward(
        self, input_ids=None, cache=None, attention_mask=None, token_type_ids=None, position_ids=None, inputs_embeds=None,
        use_cache=None, past_key_values=None, **others,
    ):  # fmt: skip
        use_cache = self.caches(use_cache)
        cache = past_key_values if cache is None else cache
        if use_cache and cache is None:
            cache = DynamicCache(self.config)
        if inputs_embeds is None:
            input_ids = input_ids.view(-1, input_ids.shape[-1])
            inputs_embeds = self.wte(input_ids)
        seen = cache.get_seq_length() if cache is not None else 0
        if position_ids is None:
            position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + seen
            position_ids = position_ids.unsqueeze(0)
        positions = self.wpe(position_ids)
        x = inputs_embeds + positions
        mask = causal_mask(self.config, inputs_embeds, attention_mask, position_ids, cache, seen)
        if token_type_ids is not None:
            x = x + self.wte(token_type_ids)
        x = self.drop(x)
        for block in self.h:
            x = block(x, cache=cache, mask=mask, position_ids=position_ids)
        x = self.ln_f(x)
        return ModelOutput(last_hidden_state=x, cache=cache if use_cache else None, hidden_states=None, attentions=None)


class GPT2LMHeadModel(CausalHead):
    decoder_name = "transformer"

    def __init__(self, config):
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.transformer.wte.weight


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return GPT2LMHeadModel(config)
