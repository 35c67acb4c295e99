"""Gemma. Mirrors transformers 5.24.0 (``models/gemma``): Llama with wide heads, scaled embeddings and norms that multiply in float32."""

import torch
from preflight_zoo.llama import LlamaConfig, LlamaDecoderLayer, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel
from torch import nn


class GemmaConfig(LlamaConfig):
    def __init__(
        self, vocab_size=256000, hidden_size=3072, intermediate_size=24576, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=16,
        head_dim=256, hidden_act="gelu_pytorch_tanh", max_position_embeddings=8192, pad_token_id=0, tie_word_embeddings=True, **others,
    ):  # fmt: skip
        super().__init__(
            vocab_size=vocab_size, hidden_size=hidden_size, intermediate_size=intermediate_size, num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads, num_key_value_heads=num_key_value_heads, head_dim=head_dim,
            hidden_act="gelu_pytorch_tanh" if hidden_act == "gelu" else hidden_act, max_position_embeddings=max_position_embeddings,
            pad_token_id=pad_token_id, tie_word_embeddings=tie_word_embeddings, **others,
        )  # fmt: skip


class GemmaRMSNorm(nn.Module):
    """Normalisation by the root mean square; the weight is one more than what is stored, and all of it is in float32."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.eps = eps

    def unit(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        scaled = self.unit(x.float())
        scaled = scaled * (1.0 + self.weight.float())
        return scaled.type_as(x)


class ScaledEmbedding(nn.Embedding):
    """Rows times the square root of their width, which is a buffer."""

    def __init__(self, count, width, padding):
        super().__init__(count, width, padding)
        self.register_buffer("embed_scale", torch.tensor(width**0.5), persistent=False)

    def forward(self, input_ids):
        return super().forward(input_ids) * self.embed_scale.to(self.weight.dtype)


class GemmaDecoderLayer(LlamaDecoderLayer):
    norm_class = GemmaRMSNorm


class GemmaModel(LlamaModel):
    layer_class = GemmaDecoderLayer
    norm_class = GemmaRMSNorm
    embedding_class = ScaledEmbedding


class GemmaForCausalLM(LlamaForCausalLM):
    model_class = GemmaModel


class GemmaForSequenceClassification(LlamaForSequenceClassification):
    model_class = GemmaModel


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return GemmaForCausalLM(config)
