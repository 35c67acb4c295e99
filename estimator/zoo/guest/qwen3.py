"""Qwen3. Mirrors transformers 5.24.0 (``models/qwen3``): Llama with queries and keys normalised head by head."""

from preflight_zoo.llama import (
    LlamaAttention,
    LlamaConfig,
    LlamaDecoderLayer,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    LlamaModel,
    LlamaRMSNorm,
)


class Qwen3Config(LlamaConfig):
    def __init__(
        self, vocab_size=151936, intermediate_size=22016, num_key_value_heads=32, head_dim=128, max_position_embeddings=32768, **others
    ):  # fmt: skip
        super().__init__(
            vocab_size=vocab_size, intermediate_size=intermediate_size, num_key_value_heads=num_key_value_heads, head_dim=head_dim,
            max_position_embeddings=max_position_embeddings, **others,
        )  # fmt: skip


class Qwen3Attention(LlamaAttention):
    def __init__(self, config, layer):
        super().__init__(config, layer)
        self.q_norm = LlamaRMSNorm(config.head_dim, config.rms_norm_eps)
        self.k_norm = LlamaRMSNorm(config.head_dim, config.rms_norm_eps)

    def projected(self, x):
        shape = (*x.shape[:-1], -1, self.config.head_dim)
        query = self.q_norm(self.q_proj(x).view(shape)).transpose(1, 2)
        key = self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2)
        value = self.v_proj(x).view(shape).transpose(1, 2)
        return query, key, value


class Qwen3DecoderLayer(LlamaDecoderLayer):
    attention_class = Qwen3Attention


class Qwen3Model(LlamaModel):
    layer_class = Qwen3DecoderLayer


class Qwen3ForCausalLM(LlamaForCausalLM):
    model_class = Qwen3Model


class Qwen3ForSequenceClassification(LlamaForSequenceClassification):
    model_class = Qwen3Model


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return Qwen3ForCausalLM(config)
