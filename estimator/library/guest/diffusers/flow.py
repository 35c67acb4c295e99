"""Schedulers of flow matching, and how Flux lays out its latents. Mirrors diffusers 0.42.1 (``schedulers/scheduling_flow_match_euler_discrete.py``,
``pipelines/flux/pipeline_flux.py``).
"""

import torch
from preflight_host import rows_of
from preflight_zoo.diffusion import Config


class FlowMatchEulerDiscreteScheduler:
    def __init__(self, num_train_timesteps=1000, **options):
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
    """What training asks of it: the text's embeddings and the layout of latents."""

    PARTS = ("text_encoder", "text_encoder_2", "vae", "transformer")

    def __init__(self, **parts):
        for name in self.PARTS:
            setattr(self, name, parts.get(name))

    @classmethod
    def from_pretrained(cls, name, torch_dtype=None, **given):
        from diffusers import AutoencoderKL, FluxTransformer2DModel
        from transformers import CLIPTextModel, T5EncoderModel

        kinds = dict(zip(cls.PARTS, (CLIPTextModel, T5EncoderModel, AutoencoderKL, FluxTransformer2DModel)))
        options = {} if torch_dtype is None else {"torch_dtype": torch_dtype}
        return cls(**{part: given[part] if part in given else kind.from_pretrained(name, subfolder=part, **options) for part, kind in kinds.items()})

    def to(self, *args, **options):
        for name in self.PARTS:
            if getattr(self, name) is not None:
                getattr(self, name).to(*args, **options)
        return self

    def encode_prompt(self, prompt=None, prompt_2=None, device=None, num_images_per_prompt=1, max_sequence_length=512, **options):
        rows = rows_of(prompt)
        rows = 1 if rows is None else rows
        device = self.text_encoder.device if device is None else device
        pooled = self.text_encoder(torch.zeros((rows, 77), dtype=torch.int64, device=device)).pooler_output
        embedded = self.text_encoder_2(torch.zeros((rows, max_sequence_length), dtype=torch.int64, device=device))[0]
        return embedded, pooled, torch.zeros(max_sequence_length, 3).to(device=device, dtype=embedded.dtype)

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
