"""GLM-4. Mirrors transformers 5.24.0 (``models/glm``): Llama with biases on queries, keys and values, half of each head turned, and gate and
value out of one product.
"""

import torch
from preflight_zoo.llama import LlamaAttention, LlamaConfig, LlamaDecoderLayer, LlamaForCausalLM, LlamaModel, LlamaRotaryEmbedding
from preflight_zoo.phi3 import Phi3MLP, rotated


class GlmConfig(LlamaConfig):
    qkv_bias = True

    def __init__(
        self, vocab_size=151552, hidden_size=4096, intermediate_size=13696, num_hidden_layers=40, num_attention_heads=32, num_key_value_heads=2,
        head_dim=128, max_position_embeddings=131072, rms_norm_eps=1.5625e-07, pad_token_id=151329, partial_rotary_factor=0.5, **others,
    ):  # fmt: skip
        super().__init__(
            vocab_size=vocab_size, hidden_size=hidden_size, intermediate_size=intermediate_size, num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads, num_key_value_heads=num_key_value_heads, head_dim=head_dim,
            max_position_embeddings=max_position_embeddings, rms_norm_eps=rms_norm_eps, pad_token_id=pad_token_id, **others,
        )  # fmt: skip
        self.partial_rotary_factor = partial_rotary_factor


class GlmRotaryEmbedding(LlamaRotaryEmbedding):
    """Angles for a part of each head."""

    def __init__(self, config):
        super().__init__(config)
        width = int(config.head_dim * config.partial_rotary_factor)
        frequencies = 1.0 / (config.rope_theta ** (torch.arange(0, width, 2, dtype=torch.float32) / width))
        self.register_buffer("inv_freq", frequencies, persistent=False)
        self.register_buffer("original_inv_freq", frequencies.clone(), persistent=False)


class GlmAttention(LlamaAttention):
    def placed(self, query, key, positions):
        cosine, sine = (part[..., : part.shape[-1] // 2].repeat_interleave(2, dim=-1) for part in positions)
        return rotated(query, key, cosine, sine)


class GlmDecoderLayer(LlamaDecoderLayer):
    attention_class = GlmAttention
    mlp_class = Phi3MLP


class GlmModel(LlamaModel):
    layer_class = GlmDecoderLayer

    def __init__(self, config):
        super().__init__(config)
        self.rotary_emb = GlmRotaryEmbedding(config)


class GlmForCausalLM(LlamaForCausalLM):
    model_class = GlmModel


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return GlmForCausalLM(config)
