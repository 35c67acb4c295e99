"""What the library's models have in common: a configuration, checkpointed blocks, tied weights.

Mirrors transformers 5.24.0 (``PreTrainedConfig``, ``PreTrainedModel``, ``GradientCheckpointingLayer``).
"""

from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Configuration:
    """Arguments every model's configuration takes beside its own."""

    def __init__(self, attn_implementation="sdpa", num_labels=2, problem_type=None, padded_batches=False, **others):
        self._attn_implementation = attn_implementation
        self.num_labels = num_labels
        self.problem_type = problem_type
        self.padded_batches = padded_batches
        for name, value in others.items():
            setattr(self, name, value)


class Block(nn.Module):
    """A repeated layer; ``compute`` runs anew in backward where the model checkpoints.

    What a model hands to every layer, used there or not (``position_ids``), lives until that layer has been rerun.
    """

    gradient_checkpointing = False
    checkpoint_with = None

    def forward(self, hidden_states, *, cache=None, **context):
        if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
            return self.checkpoint_with(partial(self.compute, cache=None, **context), hidden_states)
        return self.compute(hidden_states, cache=cache, **context)


class PretrainedModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.gradient_checkpointing = False

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None):
        options = gradient_checkpointing_kwargs if gradient_checkpointing_kwargs is not None else {"use_reentrant": False}
        self._set_checkpointing(True, partial(checkpoint, **options))

    def gradient_checkpointing_disable(self):
        self._set_checkpointing(False, None)

    def activation_checkpointing_enable(self, activation_checkpointing_kwargs=None):
        self.gradient_checkpointing_enable(activation_checkpointing_kwargs)

    def _set_checkpointing(self, enabled, function):
        for module in self.modules():
            if isinstance(module, PretrainedModel):
                module.gradient_checkpointing = enabled
            if isinstance(module, Block):
                module.gradient_checkpointing = enabled
                module.checkpoint_with = function

    def enable_input_require_grads(self):
        self.get_input_embeddings().register_forward_hook(require_gradient)

    def caches(self, use_cache):
        """Whether this forward fills a cache: the argument, else the configuration; never while checkpointing."""
        wanted = self.config.use_cache if use_cache is None else use_cache
        return wanted and not (self.gradient_checkpointing and self.training and torch.is_grad_enabled())

    def num_parameters(self, only_trainable=False):
        return sum(p.numel() for p in self.parameters() if p.requires_grad or not only_trainable)

    @property
    def dtype(self):
        return next(self.parameters()).dtype

    @property
    def device(self):
        return next(self.parameters()).device


def require_gradient(module, args, output):
    output.requires_grad_(True)
