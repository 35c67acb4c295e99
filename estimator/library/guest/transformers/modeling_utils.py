"""The base of models, for model source that is read from a release of transformers. Mirrors transformers 5.24.0 (``modeling_utils.py``)."""

from functools import partial

import torch
from preflight_zoo.attention import fused
from preflight_zoo.losses import causal_lm_loss, classification_loss, token_loss
from preflight_zoo.pretrained import PretrainedModel
from torch import nn
from torch.utils.checkpoint import checkpoint


def sdpa_attention_forward(module, query, key, value, attention_mask=None, dropout=0.0, scaling=None, is_causal=None, **others):
    groups = getattr(module, "num_key_value_groups", 1)
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    return fused(query, key, value, attention_mask, dropout, scaling, groups, causal), None


class AttentionInterface:
    """Kernels by name: what is not eager is PyTorch's own attention."""

    def get_interface(self, name, default):
        return default if name == "eager" else sdpa_attention_forward

    def __getitem__(self, name):
        return sdpa_attention_forward

    def get(self, name, default=None):
        return self.get_interface(name, default)

    def valid_keys(self):
        return ["sdpa"]

    def __contains__(self, name):
        return True


ALL_ATTENTION_FUNCTIONS = AttentionInterface()


def slice_logits_to_keep(hidden_states, logits_to_keep=0):
    return hidden_states[:, -logits_to_keep:, :] if logits_to_keep else hidden_states


class PreTrainedModel(PretrainedModel):
    base_model_prefix = ""
    _tied_weights_keys = None
    _supports_sdpa = False

    def __init__(self, config, *args, **options):
        super().__init__(config)
        if not self._supports_sdpa and config._attn_implementation == "sdpa":
            config._attn_implementation = "eager"

    def post_init(self):
        if not getattr(self.config, "tie_word_embeddings", True):
            return
        if isinstance(self._tied_weights_keys, dict):
            for target, source in self._tied_weights_keys.items():
                tie(self, target, source)
        elif self._tied_weights_keys:
            head = self.get_output_embeddings()
            if head is not None:
                head.weight = self.get_input_embeddings().weight

    def init_weights(self):
        pass

    tie_weights = init_weights

    def get_input_embeddings(self):
        inner = getattr(self, self.base_model_prefix, None) if self.base_model_prefix else None
        if inner is not None and inner is not self:
            return inner.get_input_embeddings()
        return [module for module in self.modules() if isinstance(module, nn.Embedding)][0]

    @property
    def base_model(self):
        return getattr(self, self.base_model_prefix, self)

    @property
    def loss_function(self):
        return loss_of(type(self).__name__)

    def get_head_mask(self, head_mask, count, *args):
        return [None] * count

    def get_extended_attention_mask(self, attention_mask, shape, *args, **options):
        return None

    def warn_if_padding_and_no_attention_mask(self, *args):
        pass

    def _set_checkpointing(self, enabled, function):
        super()._set_checkpointing(enabled, function)
        for module in self.modules():
            if hasattr(module, "gradient_checkpointing"):
                module.gradient_checkpointing = enabled
                module._gradient_checkpointing_func = function


def tie(model, target, source):
    """One parameter under two names."""
    path, _, name = target.rpartition(".")
    from_path, _, from_name = source.rpartition(".")
    setattr(model.get_submodule(path), name, getattr(model.get_submodule(from_path), from_name))


def loss_of(name):
    if name.endswith("ForObjectDetection"):
        return of_detection
    if "CausalLM" in name or "LMHead" in name:
        return of_causal
    if "SequenceClassification" in name or "ImageClassification" in name:
        return of_classification
    return of_tokens


def of_detection(*given, **named):
    """The library's own, which matches what was found with what is there."""
    from transformers.loss.loss_for_object_detection import ForObjectDetectionLoss

    return ForObjectDetectionLoss(*given, **named)


def of_causal(logits=None, labels=None, vocab_size=None, num_items_in_batch=None, shift_labels=None, **others):
    return causal_lm_loss(logits, labels, vocab_size, num_items_in_batch, shift_labels)


def of_classification(labels=None, pooled_logits=None, config=None, logits=None, **others):
    return classification_loss(config, logits if pooled_logits is None else pooled_logits, labels)


def of_tokens(logits=None, labels=None, vocab_size=None, config=None, **others):
    return token_loss(logits, labels, logits.shape[-1])
