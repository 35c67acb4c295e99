"""The U-Net of unconditional diffusion. Mirrors diffusers 0.42.1 (``models/unets/unet_2d.py``): parameter names and the operations of a step."""

import torch
from preflight_zoo.diffusion import DiffusionConfig, DiffusionModel
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.unet_2d_condition import TimestepEmbedding, waves
from preflight_zoo.unet_blocks import Downsample2D, ResnetBlock2D, Upsample2D
from torch import nn
from torch.utils.checkpoint import checkpoint


class UNet2DConfig(DiffusionConfig):
    def __init__(
        self, sample_size=None, in_channels=3, out_channels=3, center_input_sample=False, freq_shift=0, flip_sin_to_cos=True,
        down_block_types=("DownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "AttnUpBlock2D", "AttnUpBlock2D", "UpBlock2D"), block_out_channels=(224, 448, 672, 896), layers_per_block=2,
        downsample_padding=1, dropout=0.0, attention_head_dim=8, norm_num_groups=32, norm_eps=1e-5, add_attention=True, num_class_embeds=None, **others,
    ):  # fmt: skip
        self.sample_size = sample_size
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.center_input_sample = center_input_sample
        self.freq_shift = freq_shift
        self.flip_sin_to_cos = flip_sin_to_cos
        self.down_block_types = down_block_types
        self.up_block_types = up_block_types
        self.block_out_channels = block_out_channels
        self.layers_per_block = layers_per_block
        self.downsample_padding = downsample_padding
        self.dropout = dropout
        self.attention_head_dim = attention_head_dim
        self.norm_num_groups = norm_num_groups
        self.norm_eps = norm_eps
        self.add_attention = add_attention
        self.num_class_embeds = num_class_embeds


class SpatialAttention(nn.Module):
    """Every place of the picture looks at every other, and is added to what came in."""

    def __init__(self, config, width):
        super().__init__()
        self.heads = width // (config.attention_head_dim if config.attention_head_dim is not None else width)
        self.group_norm = nn.GroupNorm(config.norm_num_groups, width, eps=config.norm_eps)
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.to_out = nn.ModuleList([nn.Linear(width, width), nn.Dropout(0.0)])

    def forward(self, x):
        before = x
        batch, width, height, breadth = x.shape
        x = x.view(batch, width, height * breadth).transpose(1, 2)
        x = self.group_norm(x.transpose(1, 2)).transpose(1, 2)
        query = self.to_q(x)
        key = self.to_k(x)
        value = self.to_v(x)
        size = width // self.heads
        query = query.view(batch, -1, self.heads, size).transpose(1, 2)
        key = key.view(batch, -1, self.heads, size).transpose(1, 2)
        value = value.view(batch, -1, self.heads, size).transpose(1, 2)
        x = nn.functional.scaled_dot_product_attention(query, key, value)
        x = x.transpose(1, 2).reshape(batch, -1, self.heads * size)
        x = x.to(query.dtype)
        x = self.to_out[0](x)
        x = self.to_out[1](x)
        x = x.transpose(-1, -2).reshape(batch, width, height, breadth)
        x = x + before
        return x / 1.0


class _Block(nn.Module):
    gradient_checkpointing = False

    def filled(self, config, widths, outputs, time_width, attentions):
        if attentions:
            self.attentions = nn.ModuleList([SpatialAttention(config, outputs) for _ in range(attentions)])
        groups, eps = config.norm_num_groups, config.norm_eps
        self.resnets = nn.ModuleList([ResnetBlock2D(width, outputs, time_width, groups, eps, config.dropout) for width in widths])
        self.attends = attentions > 0

    def convolved(self, layer, x, time):
        if self.gradient_checkpointing and torch.is_grad_enabled():
            return checkpoint(layer, x, time, use_reentrant=False)
        return layer(x, time)


class DownBlock(_Block):
    def __init__(self, config, inputs, outputs, time_width, last, attends):
        super().__init__()
        count = config.layers_per_block
        self.filled(config, [inputs if place == 0 else outputs for place in range(count)], outputs, time_width, count if attends else 0)
        self.downsamplers = None if last else nn.ModuleList([Downsample2D(outputs, config.downsample_padding)])

    def forward(self, x, time):
        states = ()
        for place, layer in enumerate(self.resnets):
            x = self.convolved(layer, x, time)
            if self.attends:
                x = self.attentions[place](x)
            states = states + (x,)
        if self.downsamplers is not None:
            for downsampler in self.downsamplers:
                x = downsampler(x)
            states = states + (x,)
        return x, states


class MidBlock(_Block):
    def __init__(self, config, width, time_width):
        super().__init__()
        self.filled(config, [width, width], width, time_width, 1 if config.add_attention else 0)

    def forward(self, x, time):
        x = self.resnets[0](x, time)
        if self.attends:
            x = self.attentions[0](x)
        return self.convolved(self.resnets[1], x, time)


class UpBlock(_Block):
    def __init__(self, config, inputs, outputs, before, time_width, last, attends):
        super().__init__()
        count = config.layers_per_block + 1
        widths = [(before if place == 0 else outputs) + (inputs if place == count - 1 else outputs) for place in range(count)]
        self.filled(config, widths, outputs, time_width, count if attends else 0)
        self.upsamplers = None if last else nn.ModuleList([Upsample2D(outputs)])

    def forward(self, x, skipped, time):
        for place, layer in enumerate(self.resnets):
            beside = skipped[-1]
            skipped = skipped[:-1]
            x = torch.cat([x, beside], dim=1)
            x = self.convolved(layer, x, time)
            if self.attends:
                x = self.attentions[place](x)
        if self.upsamplers is not None:
            for upsampler in self.upsamplers:
                x = upsampler(x)
        return x


class UNet2DModel(DiffusionModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        widths = list(config.block_out_channels)
        time_width = widths[0] * 4
        self.conv_in = nn.Conv2d(config.in_channels, widths[0], kernel_size=3, padding=1)
        self.time_embedding = TimestepEmbedding(widths[0], time_width)
        self.class_embedding = nn.Embedding(config.num_class_embeds, time_width) if config.num_class_embeds is not None else None
        down, up, inputs = [], [], widths[0]
        for place, width in enumerate(widths):
            attends = config.down_block_types[place].startswith("Attn")
            down.append(DownBlock(config, inputs, width, time_width, place == len(widths) - 1, attends))
            inputs = width
        self.down_blocks = nn.ModuleList(down)
        turned, before = list(reversed(widths)), widths[-1]
        for place, width in enumerate(turned):
            last, attends = place == len(turned) - 1, config.up_block_types[place].startswith("Attn")
            up.append(UpBlock(config, turned[min(place + 1, len(turned) - 1)], width, before, time_width, last, attends))
            before = width
        self.up_blocks = nn.ModuleList(up)
        self.mid_block = MidBlock(config, widths[-1], time_width)
        self.conv_norm_out = nn.GroupNorm(config.norm_num_groups, widths[0], eps=config.norm_eps)
        self.conv_act = nn.SiLU()
        self.conv_out = nn.Conv2d(widths[0], config.out_channels, kernel_size=3, padding=1)

    def time_of(self, sample, timestep, class_labels):
        steps = timestep
        if not torch.is_tensor(steps):
            steps = torch.tensor([steps], dtype=torch.int64, device=sample.device)
        elif len(steps.shape) == 0:
            steps = steps[None].to(sample.device)
        steps = steps * torch.ones(sample.shape[0], dtype=steps.dtype, device=steps.device)
        x = waves(steps, self.config.block_out_channels[0], self.config.flip_sin_to_cos, self.config.freq_shift)
        x = x.to(dtype=self.conv_in.weight.dtype)
        x = self.time_embedding(x)
        if self.class_embedding is not None:
            x = x + self.class_embedding(class_labels).to(dtype=x.dtype)
        return x

    def forward(self, sample, timestep, class_labels=None, return_dict=True):
        if self.config.center_input_sample:
            sample = 2 * sample - 1.0
        time = self.time_of(sample, timestep, class_labels)
        sample = self.conv_in(sample)
        skipped = (sample,)
        for block in self.down_blocks:
            sample, states = block(sample, time)
            skipped = skipped + states
        sample = self.mid_block(sample, time)
        for block in self.up_blocks:
            states = skipped[-len(block.resnets) :]
            skipped = skipped[: -len(block.resnets)]
            sample = block(sample, states, time)
        sample = self.conv_norm_out(sample)
        sample = self.conv_act(sample)
        sample = self.conv_out(sample)
        return ModelOutput(sample=sample) if return_dict else (sample,)


def build(config):
    """The U-Net: what ``UNet2DModel`` gives."""
    return UNet2DModel(config)
