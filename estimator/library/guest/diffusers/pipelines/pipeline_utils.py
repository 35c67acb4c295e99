"""The base of pipelines, for pipeline source that is read from a release of diffusers. Mirrors diffusers 0.42.1 (``pipelines/pipeline_utils.py``)."""

from contextlib import contextmanager

import torch
from diffusers.configuration_utils import ConfigMixin
from preflight_host import constructor_classes
from torch import nn


class DiffusionPipeline(ConfigMixin):
    _optional_components = []

    def register_modules(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)
        self.__dict__["_parts"] = list(parts)

    @classmethod
    def from_pretrained(cls, name, torch_dtype=None, **given):
        """The parts that are handed in, the others by the classes that the constructor is annotated with."""
        options = {} if torch_dtype is None else {"torch_dtype": torch_dtype}
        parts = {}
        for part, kind in constructor_classes(cls).items():
            if part in given:
                parts[part] = given[part]
            elif kind is not None:
                parts[part] = kind.from_pretrained(name, subfolder=part, **(options if issubclass(kind, nn.Module) else {}))
        return cls(**parts)

    def parts(self):
        return [part for part in (getattr(self, name, None) for name in self._parts) if isinstance(part, nn.Module)]

    @property
    def components(self):
        return {name: getattr(self, name) for name in self._parts}

    def to(self, *args, **options):
        for part in self.parts():
            part.to(*args, **options)
        return self

    @property
    def device(self):
        held = self.parts()
        return held[0].device if held else torch.device("cpu")

    _execution_device = device

    @property
    def dtype(self):
        return self.parts()[0].dtype

    def set_progress_bar_config(self, **options):
        pass

    maybe_free_model_hooks = remove_all_hooks = enable_xformers_memory_efficient_attention = save_pretrained = set_progress_bar_config
    enable_attention_slicing = save_lora_weights = load_lora_weights = enable_vae_slicing = enable_vae_tiling = set_progress_bar_config

    @contextmanager
    def progress_bar(self, iterable=None, total=None):
        yield self

    def update(self, *args):
        pass


class StableDiffusionMixin:
    pass


class ImagePipelineOutput:
    def __init__(self, images=None):
        self.images = images
