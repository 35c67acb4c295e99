"""``diffusers``: the zoo's denoisers by the names of published models, and the schedulers that add noise.

Mirrors diffusers 0.42.1 (``schedulers/scheduling_ddpm.py``) in what happens on the device.
"""

import torch
from diffusers.flow import (
    FlowMatchEulerDiscreteScheduler, FluxControlNetPipeline, FluxControlPipeline, FluxKontextPipeline, FluxPipeline,
)  # fmt: skip
from preflight_host import catalog_config, model_class, noted_argument
from preflight_zoo import autoencoder_kl, controlnet, flux, unet_2d, unet_2d_condition
from preflight_zoo.diffusion import Config, DiffusionConfig

SHORT = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
NOT_OF_THE_CONFIG = (
    "torch_dtype", "subfolder", "revision", "variant", "use_safetensors", "cache_dir", "token", "local_files_only", "low_cpu_mem_usage",
    "device_map", "safety_checker", "force_download",
)  # fmt: skip


#: Parts of a pipeline that have its own name in the catalog.
MAIN_PARTS = ("unet", "transformer", "prior", "controlnet")
#: Numbers that a ControlNet takes over from the U-Net that it is made for.
TAKEN_OVER = (
    "in_channels", "flip_sin_to_cos", "freq_shift", "down_block_types", "block_out_channels", "layers_per_block", "downsample_padding", "dropout",
    "norm_num_groups", "norm_eps", "cross_attention_dim", "transformer_layers_per_block", "use_linear_projection", "addition_embed_type",
    "addition_time_embed_dim", "projection_class_embeddings_input_dim",
)  # fmt: skip


class _Published:
    """Models by the names of published ones, or by the numbers of a configuration."""

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **options):
        return loaded(cls, pretrained_model_name_or_path, options)

    @classmethod
    def from_config(cls, config, **options):
        made = cls(**{**dict(config), **options})
        made._name_or_path = made.config._name_or_path = getattr(config, "_name_or_path", None)
        return made


class UNet2DConditionModel(_Published, unet_2d_condition.UNet2DConditionModel):
    def __init__(self, *args, **numbers):
        super().__init__(unet_2d_condition.UNet2DConditionConfig(*args, **numbers))


class UNet2DModel(_Published, unet_2d.UNet2DModel):
    def __init__(self, *args, **numbers):
        super().__init__(unet_2d.UNet2DConfig(*args, **numbers))


class AutoencoderKL(_Published, autoencoder_kl.AutoencoderKL):
    def __init__(self, *args, **numbers):
        super().__init__(autoencoder_kl.AutoencoderKLConfig(*args, **numbers))


class ControlNetModel(_Published, controlnet.ControlNetModel):
    def __init__(self, **numbers):
        super().__init__(controlnet.ControlNetConfig(**numbers))

    @classmethod
    def from_unet(cls, unet, conditioning_channels=3, **options):
        numbers = {name: getattr(unet.config, name) for name in TAKEN_OVER}
        return cls(conditioning_channels=conditioning_channels, attention_head_dim=unet.config.attention_head_dim, **numbers)


class FluxTransformer2DModel(_Published, flux.FluxTransformer2DModel):
    def __init__(self, *args, **numbers):
        super().__init__(flux.FluxConfig(*args, **numbers))


def loaded(cls, name, options):
    """A published model, in the type that was asked for."""
    part = options.get("subfolder")
    published = name if not part or part in MAIN_PARTS else name + "-" + part
    family, numbers, stored = catalog_config(published)
    if "." in family:
        cls = model_class(family, cls)
    dtype = options.get("torch_dtype")
    if dtype is not None:
        noted_argument("precision", SHORT.get(str(dtype).rpartition(".")[2], "fp32"), options, ("torch_dtype",))
    given = {key: value for key, value in options.items() if key not in NOT_OF_THE_CONFIG}
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32 if dtype is None else dtype)
    model = cls(**{**numbers, **given})
    torch.set_default_dtype(before)
    model._name_or_path = published
    if isinstance(model.config, DiffusionConfig):
        model.config._name_or_path = published
    model.eval()
    return model


class DDPMScheduler:
    """Any scheduler that adds noise by steps: one number for every step."""

    def __init__(self, num_train_timesteps=1000, prediction_type="epsilon", **options):
        self.config = Config({"num_train_timesteps": num_train_timesteps, "prediction_type": prediction_type, **options})
        self.num_train_timesteps = num_train_timesteps
        self.alphas_cumprod = torch.zeros(num_train_timesteps)
        self.timesteps = list(range(num_train_timesteps))
        self.sigmas = torch.zeros(num_train_timesteps + 1)

    @classmethod
    def from_pretrained(cls, name, **options):
        return cls()

    @classmethod
    def from_config(cls, config, **options):
        return cls(**dict(config))

    def factors(self, samples, steps):
        """Shares of sample and noise at each step, one number for each sample."""
        self.alphas_cumprod = self.alphas_cumprod.to(device=samples.device)
        alphas = self.alphas_cumprod.to(dtype=samples.dtype)
        steps = steps.to(samples.device)
        of_sample = alphas[steps] ** 0.5
        of_sample = of_sample.flatten()
        while len(of_sample.shape) < len(samples.shape):
            of_sample = of_sample.unsqueeze(-1)
        of_noise = (1 - alphas[steps]) ** 0.5
        of_noise = of_noise.flatten()
        while len(of_noise.shape) < len(samples.shape):
            of_noise = of_noise.unsqueeze(-1)
        return of_sample, of_noise

    def add_noise(self, original_samples, noise, timesteps):
        of_sample, of_noise = self.factors(original_samples, timesteps)
        return of_sample * original_samples + of_noise * noise

    def get_velocity(self, sample, noise, timesteps):
        of_sample, of_noise = self.factors(sample, timesteps)
        return of_sample * noise - of_noise * sample

    def set_timesteps(self, count, device=None, **options):
        self.timesteps = list(range(count))

    def save_pretrained(self, path, **options):
        pass


DDIMScheduler = PNDMScheduler = EulerDiscreteScheduler = DPMSolverMultistepScheduler = LMSDiscreteScheduler = DDPMScheduler
