"""The base of models, for model source that is read from a release of diffusers. Mirrors diffusers 0.42.1 (``models/modeling_utils.py``)."""

from functools import partial

from diffusers import loaded
from diffusers.configuration_utils import register_numbers, registered_numbers
from preflight_zoo.diffusion import DiffusionModel
from torch.utils.checkpoint import checkpoint


class ModelMixin(DiffusionModel):
    _supports_gradient_checkpointing = False
    config = property(registered_numbers)
    register_to_config = register_numbers

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **options):
        return loaded(cls, pretrained_model_name_or_path, options)

    def enable_gradient_checkpointing(self, gradient_checkpointing_func=None):
        self._set_checkpointing(True, partial(checkpoint, use_reentrant=False) if gradient_checkpointing_func is None else gradient_checkpointing_func)

    def disable_gradient_checkpointing(self):
        self._set_checkpointing(False, checkpoint)

    def _set_checkpointing(self, enabled, function):
        for module in self.modules():
            if hasattr(module, "gradient_checkpointing"):
                module._gradient_checkpointing_func = function
                module.gradient_checkpointing = enabled


LegacyModelMixin = ModelMixin
