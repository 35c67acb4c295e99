"""Mistral 7B. Mirrors transformers 5.24.0 (``models/mistral``): Llama with grouped heads by default; its sliding window is not modelled,
since a window longer than the sequence changes nothing that is kept.
"""

from preflight_zoo.llama import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel


class MistralConfig(LlamaConfig):
    def __init__(
        self, intermediate_size=14336, num_key_value_heads=8, max_position_embeddings=131072, sliding_window=4096, **others
    ):  # fmt: skip
        super().__init__(
            intermediate_size=intermediate_size, num_key_value_heads=num_key_value_heads, max_position_embeddings=max_position_embeddings, **others
        )
        self.sliding_window = sliding_window


class MistralModel(LlamaModel):
    pass


class MistralForCausalLM(LlamaForCausalLM):
    pass


class MistralForSequenceClassification(LlamaForSequenceClassification):
    pass


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return MistralForCausalLM(config)
