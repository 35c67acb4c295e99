"""Gemma 2. Mirrors transformers 5.24.0 (``models/gemma2``): Gemma with norms on both sides of each part and scores held below a cap by tanh.

A cap is what no fused kernel has, so attention is written out unless FlashAttention is asked for; every other layer looks at a window.
"""

import torch
from preflight_zoo.attention import causal_mask, repeat_heads
from preflight_zoo.gemma import GemmaConfig, GemmaDecoderLayer, GemmaForCausalLM, GemmaModel, GemmaRMSNorm
from preflight_zoo.llama import LlamaAttention, LlamaForSequenceClassification
from torch import nn


class Gemma2Config(GemmaConfig):
    def __init__(
        self, hidden_size=2304, intermediate_size=9216, num_hidden_layers=26, num_attention_heads=8, num_key_value_heads=4,
        hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=256, sliding_window=4096, final_logit_softcapping=30.0,
        attn_logit_softcapping=50.0, layer_types=None, attn_implementation="eager", **others,
    ):  # fmt: skip
        super().__init__(
            hidden_size=hidden_size, intermediate_size=intermediate_size, num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads, num_key_value_heads=num_key_value_heads, hidden_act=hidden_activation,
            attn_implementation=attn_implementation, **others,
        )  # fmt: skip
        self.query_pre_attn_scalar = query_pre_attn_scalar
        self.sliding_window = sliding_window
        self.layer_types = layer_types
        if layer_types is None:
            self.layer_types = ["full_attention" if layer % 2 else "sliding_attention" for layer in range(num_hidden_layers)]
        self.final_logit_softcapping = final_logit_softcapping
        self.attn_logit_softcapping = attn_logit_softcapping


class Gemma2Attention(LlamaAttention):
    def __init__(self, config, layer):
        super().__init__(config, layer)
        self.scaling = config.query_pre_attn_scalar**-0.5

    def forward(self, x, positions, masks, cache):
        return super().forward(x, positions, masks[self.config.layer_types[self.layer]], cache)

    def eager(self, query, key, value, mask, dropout):
        key = repeat_heads(key, self.groups)
        value = repeat_heads(value, self.groups)
        weights = torch.matmul(query, key.transpose(2, 3)) * self.scaling
        if self.config.attn_logit_softcapping is not None:
            weights = weights / self.config.attn_logit_softcapping
            weights = torch.tanh(weights)
            weights = weights * self.config.attn_logit_softcapping
        if mask is not None:
            weights = weights + mask
        weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
        weights = nn.functional.dropout(weights, p=dropout, training=self.training)
        attended = torch.matmul(weights, value)
        attended = attended.transpose(1, 2).contiguous()
        return attended, weights


class Gemma2DecoderLayer(GemmaDecoderLayer):
    attention_class = Gemma2Attention

    def __init__(self, config, layer):
        super().__init__(config, layer)
        self.pre_feedforward_layernorm = GemmaRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_feedforward_layernorm = GemmaRMSNorm(config.hidden_size, config.rms_norm_eps)

    def compute(self, x, cache, mask, positions, position_ids):
        before = x
        x = self.input_layernorm(x)
        x, weights = self.self_attn(x, positions, mask, cache)
        x = self.post_attention_layernorm(x)
        x = before + x
        before = x
        x = self.pre_feedforward_layernorm(x)
        x = self.mlp(x)
        x = self.post_feedforward_layernorm(x)
        x = before + x
        return x


class Gemma2Model(GemmaModel):
    layer_class = Gemma2DecoderLayer

    def mask(self, embeds, padding, position_ids, cache, seen):
        """One for the layers that see all and one for those that see a window, both as large."""
        full = causal_mask(self.config, embeds, padding, position_ids, cache, seen)
        window = causal_mask(self.config, embeds, padding, position_ids, cache, min(seen, self.config.sliding_window - 1))
        return {"full_attention": full, "sliding_attention": window}


class Gemma2ForCausalLM(GemmaForCausalLM):
    model_class = Gemma2Model

    def scored(self, x):
        logits = self.lm_head(x)
        if self.config.final_logit_softcapping is not None:
            logits = logits / self.config.final_logit_softcapping
            logits = torch.tanh(logits)
            logits = logits * self.config.final_logit_softcapping
        return logits


class Gemma2ForSequenceClassification(LlamaForSequenceClassification):
    model_class = Gemma2Model


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return Gemma2ForCausalLM(config)
