"""Schedulers of flow matching, and how Flux lays out its latents. Mirrors diffusers 0.42.1 (``schedulers/scheduling_flow_match_euler_discrete.py``,
``pipelines/flux/pipeline_flux.py``).
"""

import torch


class FlowMatchEulerDiscreteScheduler:
    def __init__(self, num_train_timesteps=1000, **options):
        from diffusers import Config

        self.config = Config({"num_train_timesteps": num_train_timesteps, "shift": 1.0, **options})
        self.timesteps = torch.zeros(num_train_timesteps)
        self.sigmas = torch.zeros(num_train_timesteps)

    @classmethod
    def from_pretrained(cls, name, **options):
        return cls()

    @classmethod
    def from_config(cls, config, **options):
        return cls(**{**dict(config), **options})

    def set_timesteps(self, count=None, device=None, **options):
        pass

    save_pretrained = set_timesteps


class FluxPipeline:
    """Only what training asks of it: the layout of latents."""

    @staticmethod
    def _pack_latents(latents, batch_size, num_channels_latents, height, width):
        latents = latents.view(batch_size, num_channels_latents, height // 2, 2, width // 2, 2)
        latents = latents.permute(0, 2, 4, 1, 3, 5)
        return latents.reshape(batch_size, (height // 2) * (width // 2), num_channels_latents * 4)

    @staticmethod
    def _unpack_latents(latents, height, width, vae_scale_factor):
        batch_size, count, channels = latents.shape
        height = 2 * (int(height) // (vae_scale_factor * 2))
        width = 2 * (int(width) // (vae_scale_factor * 2))
        latents = latents.view(batch_size, height // 2, width // 2, channels // 4, 2, 2)
        latents = latents.permute(0, 3, 1, 4, 2, 5)
        return latents.reshape(batch_size, channels // 4, height, width)

    @staticmethod
    def _prepare_latent_image_ids(batch_size, height, width, device, dtype):
        ids = torch.zeros(height, width, 3)
        return ids.reshape(height * width, 3).to(device=device, dtype=dtype)

    @classmethod
    def save_lora_weights(cls, *args, **options):
        pass


FluxKontextPipeline = FluxControlPipeline = FluxControlNetPipeline = FluxPipeline
