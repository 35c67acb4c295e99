"""Mixtral. Mirrors transformers 5.24.0 (``models/mixtral``): Mistral with experts. The loss that balances them is not modelled (off by default)."""

from preflight_zoo.experts import Experts, SparseBlock, TopKRouter
from preflight_zoo.llama import LlamaConfig, LlamaDecoderLayer, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel


class MixtralConfig(LlamaConfig):
    def __init__(
        self, intermediate_size=14336, num_key_value_heads=8, max_position_embeddings=131072, rms_norm_eps=1e-5, rope_theta=1000000.0,
        sliding_window=None, num_experts_per_tok=2, num_local_experts=8, output_router_logits=False, **others,
    ):  # fmt: skip
        super().__init__(
            intermediate_size=intermediate_size, num_key_value_heads=num_key_value_heads, max_position_embeddings=max_position_embeddings,
            rms_norm_eps=rms_norm_eps, rope_theta=rope_theta, **others,
        )  # fmt: skip
        self.sliding_window = sliding_window
        self.num_experts_per_tok = num_experts_per_tok
        self.num_local_experts = num_local_experts
        self.output_router_logits = output_router_logits


class MixtralDecoderLayer(LlamaDecoderLayer):
    def feed_forward(self, config, layer):
        gate = TopKRouter(config.num_local_experts, config.num_experts_per_tok, config.hidden_size, normalised=True)
        return SparseBlock(gate=gate, experts=Experts(config.num_local_experts, config.hidden_size, config.intermediate_size))


class MixtralModel(LlamaModel):
    layer_class = MixtralDecoderLayer


class MixtralForCausalLM(LlamaForCausalLM):
    model_class = MixtralModel


class MixtralForSequenceClassification(LlamaForSequenceClassification):
    model_class = MixtralModel


def build(config):
    """The model with its language-modelling head: what ``AutoModelForCausalLM`` gives."""
    return MixtralForCausalLM(config)
