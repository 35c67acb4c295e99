"""Qwen2 with experts. Mirrors transformers 5.24.0 (``models/qwen2_moe``): beside the chosen experts one that every token passes through."""

from preflight_zoo.experts import Experts, SparseBlock
from preflight_zoo.llama import LlamaConfig, LlamaDecoderLayer, LlamaForCausalLM, LlamaForSequenceClassification, LlamaMLP, LlamaModel
from preflight_zoo.qwen3_moe import QwenRouter
from torch import nn


class Qwen2MoeConfig(LlamaConfig):
    qkv_bias = True

    def __init__(
        self, vocab_size=151936, hidden_size=2048, intermediate_size=5632, num_hidden_layers=24, num_attention_heads=16, num_key_value_heads=16,
        max_position_embeddings=32768, decoder_sparse_step=1, moe_intermediate_size=1408, shared_expert_intermediate_size=5632,
        num_experts_per_tok=4, num_experts=60, norm_topk_prob=False, mlp_only_layers=None, **others,
    ):  # fmt: skip
        super().__init__(
            vocab_size=vocab_size, hidden_size=hidden_size, intermediate_size=intermediate_size, num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads, num_key_value_heads=num_key_value_heads, max_position_embeddings=max_position_embeddings, **others,
        )  # fmt: skip
        self.decoder_sparse_step = decoder_sparse_step
        self.moe_intermediate_size = moe_intermediate_size
        self.shared_expert_intermediate_size = shared_expert_intermediate_size
        self.num_experts_per_tok = num_experts_per_tok
        self.num_experts = num_experts
        self.norm_topk_prob = norm_topk_prob
        self.mlp_only_layers = [] if mlp_only_layers is None else mlp_only_layers

    def has_experts(self, layer):
        return layer not in self.mlp_only_layers and self.num_experts > 0 and (layer + 1) % self.decoder_sparse_step == 0


class SharedBlock(SparseBlock):
    """Chosen experts, and a shared one whose part a gate decides."""

    def __init__(self, config):
        super().__init__(
            gate=QwenRouter(config.num_experts, config.num_experts_per_tok, config.hidden_size, config.norm_topk_prob),
            experts=Experts(config.num_experts, config.hidden_size, config.moe_intermediate_size),
            shared_expert=LlamaMLP(config, config.shared_expert_intermediate_size),
            shared_expert_gate=nn.Linear(config.hidden_size, 1, bias=False),
        )

    def forward(self, x):
        batch, length, width = x.shape
        x = x.view(-1, width)
        shared = self.shared_expert(x)
        logits, weights, chosen = self.gate(x)
        logits = None
        made = self.experts(x, chosen, weights)
        shared = nn.functional.sigmoid(self.shared_expert_gate(x)) * shared
        made = made + shared
        return made.reshape(batch, length, width)


class Qwen2MoeDecoderLayer(LlamaDecoderLayer):
    def feed_forward(self, config, layer):
        return SharedBlock(config) if config.has_experts(layer) else super().feed_forward(config, layer)


class Qwen2MoeModel(LlamaModel):
    layer_class = Qwen2MoeDecoderLayer


class Qwen2MoeForCausalLM(LlamaForCausalLM):
    model_class = Qwen2MoeModel


class Qwen2MoeForSequenceClassification(LlamaForSequenceClassification):
    model_class = Qwen2MoeModel


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return Qwen2MoeForCausalLM(config)
