"""The autoencoders behind latent diffusion. Mirrors diffusers 0.42.1 (``models/autoencoders/autoencoder_kl.py``, ``vae.py``): parameter names and
the operations of a step, in their order.
"""

import torch
from preflight_zoo.diffusion import DiffusionConfig, DiffusionModel
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.unet_2d import SpatialAttention
from preflight_zoo.unet_blocks import Downsample2D, ResnetBlock2D, Upsample2D
from torch import nn
from torch.utils.checkpoint import checkpoint


class AutoencoderKLConfig(DiffusionConfig):
    #: Of the attention in the middle: one head.
    attention_head_dim = None
    norm_eps = 1e-6

    def __init__(
        self, in_channels=3, out_channels=3, down_block_types=("DownEncoderBlock2D",), up_block_types=("UpDecoderBlock2D",), block_out_channels=(64,),
        layers_per_block=1, latent_channels=4, norm_num_groups=32, sample_size=32, scaling_factor=0.18215, shift_factor=None, force_upcast=True,
        use_quant_conv=True, use_post_quant_conv=True, mid_block_add_attention=True, latents_mean=None, latents_std=None, **others,
    ):  # fmt: skip
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.down_block_types = down_block_types
        self.up_block_types = up_block_types
        self.block_out_channels = list(block_out_channels)
        self.layers_per_block = layers_per_block
        self.latent_channels = latent_channels
        self.norm_num_groups = norm_num_groups
        self.sample_size = sample_size
        self.scaling_factor = scaling_factor
        self.shift_factor = shift_factor
        self.force_upcast = force_upcast
        self.use_quant_conv = use_quant_conv
        self.use_post_quant_conv = use_post_quant_conv
        self.mid_block_add_attention = mid_block_add_attention
        self.latents_mean = latents_mean
        self.latents_std = latents_std


class _Stage(nn.Module):
    """Layers of convolutions, and what makes the picture smaller or larger behind them."""

    def __init__(self, config, inputs, outputs, layers):
        super().__init__()
        widths = [inputs if place == 0 else outputs for place in range(layers)]
        self.resnets = nn.ModuleList([ResnetBlock2D(width, outputs, None, config.norm_num_groups, config.norm_eps) for width in widths])

    def forward(self, x):
        for layer in self.resnets:
            x = layer(x)
        for behind in self.behind():
            x = behind(x)
        return x


class DownEncoderBlock2D(_Stage):
    def __init__(self, config, inputs, outputs, last):
        super().__init__(config, inputs, outputs, config.layers_per_block)
        self.downsamplers = None if last else nn.ModuleList([Downsample2D(outputs, 0)])

    def behind(self):
        return self.downsamplers if self.downsamplers is not None else ()


class UpDecoderBlock2D(_Stage):
    def __init__(self, config, inputs, outputs, last):
        super().__init__(config, inputs, outputs, config.layers_per_block + 1)
        self.upsamplers = None if last else nn.ModuleList([Upsample2D(outputs)])

    def behind(self):
        return self.upsamplers if self.upsamplers is not None else ()


class MidBlock(nn.Module):
    """Attention between two layers of convolutions."""

    def __init__(self, config, width):
        super().__init__()
        self.attentions = nn.ModuleList([SpatialAttention(config, width)] if config.mid_block_add_attention else [])
        self.resnets = nn.ModuleList([ResnetBlock2D(width, width, None, config.norm_num_groups, config.norm_eps) for _ in range(2)])

    def forward(self, x):
        x = self.resnets[0](x)
        for attention in self.attentions:
            x = attention(x)
        return self.resnets[1](x)


class _Half(nn.Module):
    """What encoder and decoder have in common."""

    gradient_checkpointing = False

    def ended(self, config, width, outputs):
        self.conv_norm_out = nn.GroupNorm(config.norm_num_groups, width, eps=config.norm_eps)
        self.conv_act = nn.SiLU()
        self.conv_out = nn.Conv2d(width, outputs, 3, padding=1)

    def forward(self, x):
        x = self.conv_in(x)
        for stage in self.stages():
            x = checkpoint(stage, x, use_reentrant=False) if self.gradient_checkpointing and torch.is_grad_enabled() else stage(x)
        x = self.conv_norm_out(x)
        x = self.conv_act(x)
        return self.conv_out(x)


class Encoder(_Half):
    def __init__(self, config):
        super().__init__()
        widths = config.block_out_channels
        self.conv_in = nn.Conv2d(config.in_channels, widths[0], kernel_size=3, stride=1, padding=1)
        pairs = list(zip([widths[0]] + widths[:-1], widths))
        last = len(pairs) - 1
        self.down_blocks = nn.ModuleList([DownEncoderBlock2D(config, inputs, outputs, place == last) for place, (inputs, outputs) in enumerate(pairs)])
        self.mid_block = MidBlock(config, widths[-1])
        self.ended(config, widths[-1], 2 * config.latent_channels)

    def stages(self):
        return [*self.down_blocks, self.mid_block]


class Decoder(_Half):
    def __init__(self, config):
        super().__init__()
        widths = list(reversed(config.block_out_channels))
        self.conv_in = nn.Conv2d(config.latent_channels, widths[0], kernel_size=3, stride=1, padding=1)
        pairs = list(zip([widths[0]] + widths[:-1], widths))
        last = len(pairs) - 1
        self.up_blocks = nn.ModuleList([UpDecoderBlock2D(config, inputs, outputs, place == last) for place, (inputs, outputs) in enumerate(pairs)])
        self.mid_block = MidBlock(config, widths[0])
        self.ended(config, widths[-1], config.out_channels)

    def stages(self):
        return [self.mid_block, *self.up_blocks]


class DiagonalGaussianDistribution:
    """Means and deviations of the latents, both kept."""

    def __init__(self, parameters):
        self.parameters = parameters
        self.mean, logvar = torch.chunk(parameters, 2, dim=1)
        self.logvar = torch.clamp(logvar, -30.0, 20.0)
        logvar = None
        self.std = torch.exp(0.5 * self.logvar)
        self.var = torch.exp(self.logvar)

    def sample(self, generator=None):
        noise = torch.randn(self.mean.shape, device=self.parameters.device, dtype=self.parameters.dtype)
        return self.mean + self.std * noise

    def mode(self):
        return self.mean

    def kl(self, other=None):
        return 0.5 * torch.sum(torch.pow(self.mean, 2) + self.var - 1.0 - self.logvar, dim=[1, 2, 3])


class AutoencoderKL(DiffusionModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        channels = config.latent_channels
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.quant_conv = nn.Conv2d(2 * channels, 2 * channels, 1) if config.use_quant_conv else None
        self.post_quant_conv = nn.Conv2d(channels, channels, 1) if config.use_post_quant_conv else None
        self.use_slicing = False

    def enable_slicing(self):
        self.use_slicing = True

    def _encode(self, x):
        x = self.encoder(x)
        return x if self.quant_conv is None else self.quant_conv(x)

    def encode(self, x, return_dict=True):
        sliced = self.use_slicing and x.shape[0] > 1
        posterior = DiagonalGaussianDistribution(torch.cat([self._encode(part) for part in x.split(1)]) if sliced else self._encode(x))
        return ModelOutput(latent_dist=posterior) if return_dict else (posterior,)

    def _decode(self, z):
        z = z if self.post_quant_conv is None else self.post_quant_conv(z)
        return self.decoder(z)

    def decode(self, z, return_dict=True, generator=None):
        sliced = self.use_slicing and z.shape[0] > 1
        decoded = torch.cat([self._decode(part) for part in z.split(1)]) if sliced else self._decode(z)
        return ModelOutput(sample=decoded) if return_dict else (decoded,)

    def forward(self, sample, sample_posterior=False, return_dict=True, generator=None):
        posterior = self.encode(sample).latent_dist
        z = posterior.sample(generator) if sample_posterior else posterior.mode()
        decoded = self.decode(z).sample
        return ModelOutput(sample=decoded) if return_dict else (decoded,)


def build(config):
    """The autoencoder: what ``AutoencoderKL`` gives."""
    return AutoencoderKL(config)
