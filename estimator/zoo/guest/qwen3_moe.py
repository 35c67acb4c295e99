"""Qwen3 with experts. Mirrors transformers 5.24.0 (``models/qwen3_moe``). The loss that balances the experts is not modelled (off by default)."""

import torch
from preflight_zoo.experts import Experts, SparseBlock, TopKRouter
from preflight_zoo.llama import LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel
from preflight_zoo.qwen3 import Qwen3Config, Qwen3DecoderLayer
from torch import nn


class Qwen3MoeConfig(Qwen3Config):
    def __init__(
        self, hidden_size=2048, intermediate_size=6144, num_hidden_layers=24, num_attention_heads=32, num_key_value_heads=4,
        decoder_sparse_step=1, moe_intermediate_size=768, num_experts_per_tok=8, num_experts=128, norm_topk_prob=False, mlp_only_layers=None,
        head_dim=None, **others,
    ):  # fmt: skip
        super().__init__(
            hidden_size=hidden_size, intermediate_size=intermediate_size, num_hidden_layers=num_hidden_layers, num_attention_heads=num_attention_heads,
            num_key_value_heads=num_key_value_heads, head_dim=head_dim, **others,
        )  # fmt: skip
        self.decoder_sparse_step = decoder_sparse_step
        self.moe_intermediate_size = moe_intermediate_size
        self.num_experts_per_tok = num_experts_per_tok
        self.num_experts = num_experts
        self.norm_topk_prob = norm_topk_prob
        self.mlp_only_layers = [] if mlp_only_layers is None else mlp_only_layers

    def has_experts(self, layer):
        return layer not in self.mlp_only_layers and self.num_experts > 0 and (layer + 1) % self.decoder_sparse_step == 0


class QwenRouter(TopKRouter):
    """Chances out of logits in their own type, and weights back in it."""

    def chances(self, logits):
        return nn.functional.softmax(logits, dtype=torch.float32, dim=-1)

    def in_type_of(self, weights, logits):
        return weights.to(logits.dtype)


class Qwen3MoeDecoderLayer(Qwen3DecoderLayer):
    def feed_forward(self, config, layer):
        if not config.has_experts(layer):
            return super().feed_forward(config, layer)
        experts = Experts(config.num_experts, config.hidden_size, config.moe_intermediate_size)
        gate = QwenRouter(config.num_experts, config.num_experts_per_tok, config.hidden_size, config.norm_topk_prob)
        return SparseBlock(experts=experts, gate=gate)


class Qwen3MoeModel(LlamaModel):
    layer_class = Qwen3MoeDecoderLayer


class Qwen3MoeForCausalLM(LlamaForCausalLM):
    model_class = Qwen3MoeModel


class Qwen3MoeForSequenceClassification(LlamaForSequenceClassification):
    model_class = Qwen3MoeModel


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return Qwen3MoeForCausalLM(config)
