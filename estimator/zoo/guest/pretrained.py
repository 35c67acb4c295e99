"""What the library's models have in common: a configuration, checkpointed blocks, tied weights.

Mirrors transformers 5.24.0 (``PreTrainedConfig``, ``PreTrainedModel``, ``GradientCheckpointingLayer``).
"""

from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Configuration:
    """Arguments every model's configuration takes beside its own."""

    def __init__(self, attn_implementation="sdpa", num_labels=2, problem_type=None, padded_batches=False, id2label=None, **others):
        self._attn_implementation = attn_implementation
        self.id2label = id2label
        self.num_labels = num_labels if id2label is None else counted(id2label)
        self.problem_type = problem_type
        self.padded_batches = padded_batches
        for name, value in others.items():
            setattr(self, name, value)

    @classmethod
    def from_pretrained(cls, name, **options):
        from transformers.auto import config_of

        return config_of(name, options)

    @classmethod
    def from_dict(cls, numbers, **options):
        return cls(**{name: value for name, value in numbers.items() if name != "model_type"})

    def update(self, numbers):
        for name, value in numbers.items():
            setattr(self, name, value)

    def to_dict(self):
        return dict(self.__dict__)

    def save_pretrained(self, path, **options):
        pass


def counted(id2label):
    """How many labels a table names."""
    from preflight_host import counted_labels

    return counted_labels(id2label)


class GenerationConfig:
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)

    @classmethod
    def from_pretrained(cls, name, **options):
        return cls(**options)


class Switched(nn.Module):
    """A layer that knows whether its model checkpoints."""

    gradient_checkpointing = False


class Block(Switched):
    """A repeated layer; ``compute`` runs anew in backward where the model checkpoints.

    What a model hands to every layer, used there or not (``position_ids``), lives until that layer has been rerun.
    """

    checkpoint_with = None

    def forward(self, hidden_states, *, cache=None, **context):
        if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
            return self.checkpoint_with(partial(self.compute, cache=None, **context), hidden_states)
        return self.compute(hidden_states, cache=cache, **context)


class PretrainedModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.generation_config = GenerationConfig()
        self.gradient_checkpointing = False

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path=None, config=None, **options):
        from transformers.auto import config_of, load

        return load(cls, config_of(pretrained_model_name_or_path, options) if config is None else config, options)

    @classmethod
    def _from_config(cls, config, **options):
        return cls(config)

    from_config = _from_config

    @property
    def loss_function(self):
        from transformers.modeling_utils import loss_of

        return loss_of(type(self).__name__)

    def save_pretrained(self, path, **options):
        pass

    push_to_hub = save_pretrained

    def get_output_embeddings(self):
        return getattr(self, "lm_head", None)

    def resize_token_embeddings(self, new_num_tokens=None, pad_to_multiple_of=None, **options):
        """Embeddings of another size, and the head that is tied to them or has the same one."""
        old = self.get_input_embeddings()
        if new_num_tokens is None:
            new_num_tokens = old.num_embeddings
        if pad_to_multiple_of is not None:
            new_num_tokens = (new_num_tokens + pad_to_multiple_of - 1) // pad_to_multiple_of * pad_to_multiple_of
        if new_num_tokens == old.num_embeddings:
            return old
        weight = old.weight
        made = nn.Parameter(torch.empty(new_num_tokens, weight.shape[1], dtype=weight.dtype, device=weight.device))
        head = self.get_output_embeddings()
        if head is not None:
            head.weight = made if head.weight is weight else nn.Parameter(torch.empty_like(made))
            head.out_features = new_num_tokens
        old.weight = made
        old.num_embeddings = new_num_tokens
        self.config.vocab_size = new_num_tokens
        return old

    @torch.no_grad()
    def generate(
        self, inputs=None, generation_config=None, input_ids=None, attention_mask=None, max_new_tokens=None, max_length=None, num_beams=1,
        num_return_sequences=1, use_cache=True, **options,
    ):  # fmt: skip
        """The prompt at once, then the last two tokens with a cache of all before: between them memory only grows."""
        from preflight_host import generated

        prompt = inputs if input_ids is None else input_ids
        if generation_config is None:
            generation_config = self.generation_config
        if max_new_tokens is None:
            max_new_tokens = getattr(generation_config, "max_new_tokens", None)
        if max_new_tokens is None:
            max_new_tokens = max((20 if max_length is None else max_length) - prompt.shape[1], 1)
        rows = prompt.shape[0] * max(num_beams, num_return_sequences)
        if rows != prompt.shape[0]:
            prompt = torch.zeros((rows, prompt.shape[1]), dtype=torch.int64, device=prompt.device)
        generated(max_new_tokens)
        outputs = self(input_ids=prompt, use_cache=True, logits_to_keep=1)
        scores = outputs.logits[:, -1, :].to(dtype=torch.float32, copy=True)
        cache = outputs.cache
        outputs = None
        cache.grow(prompt.shape[1] + max(max_new_tokens - 3, 0))
        before = torch._C._enter_phase("decode")
        for _ in range(2):
            following = torch.zeros((rows, 1), dtype=torch.int64, device=prompt.device)
            outputs = self(input_ids=following, past_key_values=cache, use_cache=True, logits_to_keep=1)
            scores = outputs.logits[:, -1, :].to(dtype=torch.float32, copy=True)
            outputs = None
        torch._C._resume_phase(before)
        return torch.zeros((rows, prompt.shape[1] + max_new_tokens), dtype=torch.int64, device=prompt.device)

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None):
        options = gradient_checkpointing_kwargs if gradient_checkpointing_kwargs is not None else {"use_reentrant": False}
        self._set_checkpointing(True, partial(checkpoint, **options))

    def gradient_checkpointing_disable(self):
        self._set_checkpointing(False, None)

    def activation_checkpointing_enable(self, activation_checkpointing_kwargs=None):
        self.gradient_checkpointing_enable(activation_checkpointing_kwargs)

    def add_adapter(self, adapter_config, adapter_name="default"):
        from peft import inject_adapter_in_model

        inject_adapter_in_model(adapter_config, self, adapter_name)

    def _set_checkpointing(self, enabled, function):
        for module in self.modules():
            if isinstance(module, (PretrainedModel, Switched)):
                module.gradient_checkpointing = enabled
            if isinstance(module, Block):
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
