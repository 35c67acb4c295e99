"""The U-Nets of Stable Diffusion 1, 2 and XL. Mirrors diffusers 0.42.1 (``models/unets/unet_2d_condition.py``): parameter names and the
operations of a training step, in their order.
"""

import math

import torch
from preflight_zoo.diffusion import DiffusionConfig, DiffusionModel
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.unet_blocks import DownBlock2D, MidBlock2D, UpBlock2D
from torch import nn


def each(value, count):
    """One value for every block."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


class UNet2DConditionConfig(DiffusionConfig):
    def __init__(
        self, sample_size=None, in_channels=4, out_channels=4, flip_sin_to_cos=True, freq_shift=0,
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        block_out_channels=(320, 640, 1280, 1280), layers_per_block=2, downsample_padding=1, dropout=0.0, norm_num_groups=32, norm_eps=1e-5,
        cross_attention_dim=1280, transformer_layers_per_block=1, attention_head_dim=8, use_linear_projection=False, addition_embed_type=None,
        addition_time_embed_dim=None, projection_class_embeddings_input_dim=None, time_cond_proj_dim=None, **others,
    ):  # fmt: skip
        self.sample_size = sample_size
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.flip_sin_to_cos = flip_sin_to_cos
        self.freq_shift = freq_shift
        self.down_block_types = down_block_types
        self.up_block_types = up_block_types
        self.block_out_channels = block_out_channels
        self.layers_per_block = layers_per_block
        self.downsample_padding = downsample_padding
        self.dropout = dropout
        self.norm_num_groups = norm_num_groups
        self.norm_eps = norm_eps
        self.cross_attention_dim = cross_attention_dim
        self.transformer_layers_per_block = each(transformer_layers_per_block, len(down_block_types))
        self.attention_head_dim = attention_head_dim
        self.use_linear_projection = use_linear_projection
        self.addition_embed_type = addition_embed_type
        self.addition_time_embed_dim = addition_time_embed_dim
        self.projection_class_embeddings_input_dim = projection_class_embeddings_input_dim
        self.time_cond_proj_dim = time_cond_proj_dim

    @property
    def heads(self):
        """Attention heads by block, which the library's configuration calls their dimension."""
        return each(self.attention_head_dim, len(self.down_block_types))


def waves(steps, width, flip, shift):
    """Sines and cosines of each step."""
    half = width // 2
    exponent = -math.log(10000) * torch.arange(start=0, end=half, dtype=torch.float32, device=steps.device)
    exponent = exponent / (half - shift)
    x = torch.exp(exponent)
    x = steps[:, None].float() * x[None, :]
    x = 1 * x
    x = torch.cat([torch.sin(x), torch.cos(x)], dim=-1)
    if flip:
        x = torch.cat([x[:, half:], x[:, :half]], dim=-1)
    return x


class TimestepEmbedding(nn.Module):
    def __init__(self, inputs, width, condition=None):
        super().__init__()
        self.linear_1 = nn.Linear(inputs, width)
        self.cond_proj = None if condition is None else nn.Linear(condition, inputs, bias=False)
        self.act = nn.SiLU()
        self.linear_2 = nn.Linear(width, width)

    def forward(self, x, condition=None):
        if condition is not None:
            x = x + self.cond_proj(condition)
        x = self.linear_1(x)
        x = self.act(x)
        x = self.linear_2(x)
        return x


class UNet2DConditionModel(DiffusionModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        widths = list(config.block_out_channels)
        self.conv_in = nn.Conv2d(config.in_channels, widths[0], kernel_size=3, padding=1)
        time_width = widths[0] * 4
        self.time_embedding = TimestepEmbedding(widths[0], time_width, config.time_cond_proj_dim)
        if config.addition_embed_type == "text_time":
            self.add_embedding = TimestepEmbedding(config.projection_class_embeddings_input_dim, time_width)
        self.built(config, widths, time_width)

    def built(self, config, widths, time_width):
        """What is behind the embeddings."""
        self.down_blocks = nn.ModuleList(self.downwards(config, widths, time_width))
        self.up_blocks = nn.ModuleList(self.upwards(config, widths, time_width))
        self.mid_block = MidBlock2D(config, widths[-1], config.heads[-1], config.transformer_layers_per_block[-1], time_width)
        self.conv_norm_out = nn.GroupNorm(config.norm_num_groups, widths[0], eps=config.norm_eps)
        self.conv_act = nn.SiLU()
        self.conv_out = nn.Conv2d(widths[0], config.out_channels, kernel_size=3, padding=1)

    def downwards(self, config, widths, time_width):
        made, inputs = [], widths[0]
        for place, width in enumerate(widths):
            attention = config.down_block_types[place] == "CrossAttnDownBlock2D"
            last = place == len(widths) - 1
            layers = config.transformer_layers_per_block[place]
            made.append(DownBlock2D(config, inputs, width, config.heads[place], layers, time_width, last, attention))
            inputs = width
        return made

    def upwards(self, config, widths, time_width):
        made, before = [], widths[-1]
        turned, heads, layers = list(reversed(widths)), list(reversed(config.heads)), list(reversed(config.transformer_layers_per_block))
        for place, width in enumerate(turned):
            attention = config.up_block_types[place] == "CrossAttnUpBlock2D"
            last = place == len(turned) - 1
            inputs = turned[min(place + 1, len(turned) - 1)]
            made.append(UpBlock2D(config, inputs, width, before, heads[place], layers[place], time_width, last, attention))
            before = width
        return made

    def time_of(self, sample, timestep, added, condition=None):
        steps = timestep
        if not torch.is_tensor(steps):
            steps = torch.tensor([steps], dtype=torch.int64, device=sample.device)
        elif len(steps.shape) == 0:
            steps = steps[None].to(sample.device)
        steps = steps.expand(sample.shape[0])
        config = self.config
        x = waves(steps, config.block_out_channels[0], config.flip_sin_to_cos, config.freq_shift)
        x = x.to(dtype=sample.dtype)
        x = self.time_embedding(x, condition)
        if config.addition_embed_type == "text_time":
            sizes = waves(added["time_ids"].flatten(), config.addition_time_embed_dim, config.flip_sin_to_cos, config.freq_shift)
            sizes = sizes.reshape((added["text_embeds"].shape[0], -1))
            joined = torch.cat([added["text_embeds"], sizes], dim=-1).to(x.dtype)
            x = x + self.add_embedding(joined)
        return x

    def forward(
        self, sample, timestep, encoder_hidden_states, added_cond_kwargs=None, return_dict=True, down_block_additional_residuals=None,
        mid_block_additional_residual=None, down_intrablock_additional_residuals=None, timestep_cond=None, **others,
    ):  # fmt: skip
        if down_intrablock_additional_residuals is None and mid_block_additional_residual is None and down_block_additional_residuals is not None:
            # Residuals without one for the middle are an adapter's: they are added inside the blocks.
            down_intrablock_additional_residuals, down_block_additional_residuals = list(down_block_additional_residuals), None
        time = self.time_of(sample, timestep, added_cond_kwargs, timestep_cond)
        uneven = any(edge % 2 ** (len(self.up_blocks) - 1) for edge in sample.shape[-2:])
        sample = self.conv_in(sample)
        skipped = (sample,)
        for block in self.down_blocks:
            added = down_intrablock_additional_residuals.pop(0) if down_intrablock_additional_residuals else None
            if block.has_cross_attention:
                sample, states = block(sample, time, encoder_hidden_states, added)
            else:
                sample, states = block(sample, time, encoder_hidden_states)
                if added is not None:
                    sample += added
            skipped = skipped + states
        if down_block_additional_residuals is not None:
            skipped = tuple([state + more for state, more in zip(skipped, down_block_additional_residuals)])
        sample = self.mid_block(sample, time, encoder_hidden_states)
        if down_intrablock_additional_residuals and sample.shape == down_intrablock_additional_residuals[0].shape:
            sample += down_intrablock_additional_residuals.pop(0)
        if mid_block_additional_residual is not None:
            sample = sample + mid_block_additional_residual
        for place, block in enumerate(self.up_blocks):
            states = skipped[-len(block.resnets) :]
            skipped = skipped[: -len(block.resnets)]
            size = skipped[-1].shape[2:] if uneven and place != len(self.up_blocks) - 1 else None
            sample = block(sample, states, time, encoder_hidden_states, size)
        sample = self.conv_norm_out(sample)
        sample = self.conv_act(sample)
        sample = self.conv_out(sample)
        return ModelOutput(sample=sample) if return_dict else (sample,)


def build(config):
    """The U-Net: what ``UNet2DConditionModel`` gives."""
    return UNet2DConditionModel(config)
