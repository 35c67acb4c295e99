"""Qwen2 and Qwen2.5. Mirrors transformers 5.24.0 (``models/qwen2``): Llama with biases on queries, keys and values."""

from preflight_zoo.llama import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel


class Qwen2Config(LlamaConfig):
    qkv_bias = True

    def __init__(
        self, vocab_size=151936, intermediate_size=22016, num_key_value_heads=32, max_position_embeddings=32768, use_sliding_window=False, **others
    ):  # fmt: skip
        super().__init__(
            vocab_size=vocab_size,
            intermediate_size=intermediate_size,
            num_key_value_heads=num_key_value_heads,
            max_position_embeddings=max_position_embeddings,
            **others,
        )
        self.use_sliding_window = use_sliding_window


class Qwen2Model(LlamaModel):
    pass


class Qwen2ForCausalLM(LlamaForCausalLM):
    pass


class Qwen2ForSequenceClassification(LlamaForSequenceClassification):
    pass


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return Qwen2ForCausalLM(config)
