"""What the diffusion library's models have in common. Mirrors diffusers 0.42.1 (``ModelMixin``)."""

from torch import nn


class Config(dict):
    """A configuration whose entries are attributes too."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


class DiffusionConfig:
    """Numbers of a family of ours, which are entries as well as attributes."""

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __contains__(self, name):
        return hasattr(self, name)

    def keys(self):
        return [name for name in self.__dict__ if not name.startswith("_")]

    def get(self, name, default=None):
        return getattr(self, name, default)


class DiffusionModel(nn.Module):
    config_name = "config.json"

    def save_pretrained(self, path, **options):
        pass

    save_config = push_to_hub = set_attn_processor = enable_xformers_memory_efficient_attention = save_pretrained
    set_adapters = enable_npu_flash_attention = save_pretrained

    def enable_gradient_checkpointing(self):
        for module in self.modules():
            if hasattr(module, "gradient_checkpointing"):
                module.gradient_checkpointing = True

    def register_to_config(self, **numbers):
        for name, value in numbers.items():
            setattr(self.config, name, value)

    def disable_gradient_checkpointing(self):
        for module in self.modules():
            if hasattr(module, "gradient_checkpointing"):
                module.gradient_checkpointing = False

    def add_adapter(self, adapter_config, adapter_name="default"):
        from peft import inject_adapter_in_model

        inject_adapter_in_model(adapter_config, self, adapter_name)

    def disable_adapters(self):
        from peft.tuners.lora.layer import switched

        switched(self, True)

    def enable_adapters(self):
        from peft.tuners.lora.layer import switched

        switched(self, False)

    def num_parameters(self, only_trainable=False):
        return sum(p.numel() for p in self.parameters() if p.requires_grad or not only_trainable)

    @property
    def dtype(self):
        return next(self.parameters()).dtype

    @property
    def device(self):
        return next(self.parameters()).device
