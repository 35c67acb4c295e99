"""ControlNets of Stable Diffusion. Mirrors diffusers 0.42.1 (``models/controlnets/controlnet.py``): parameter names and the operations of a step."""

from preflight_zoo.outputs import ModelOutput
from preflight_zoo.unet_2d_condition import UNet2DConditionConfig, UNet2DConditionModel
from preflight_zoo.unet_blocks import MidBlock2D
from torch import nn


class ControlNetConfig(UNet2DConditionConfig):
    def __init__(self, conditioning_channels=3, conditioning_embedding_out_channels=(16, 32, 96, 256), **numbers):
        super().__init__(**numbers)
        self.conditioning_channels = conditioning_channels
        self.conditioning_embedding_out_channels = list(conditioning_embedding_out_channels)
        self.global_pool_conditions = False


class ConditioningEmbedding(nn.Module):
    """The picture that steers, as small as the latents."""

    def __init__(self, config):
        super().__init__()
        widths = config.conditioning_embedding_out_channels
        self.conv_in = nn.Conv2d(config.conditioning_channels, widths[0], kernel_size=3, padding=1)
        layers = []
        for inputs, outputs in zip(widths, widths[1:]):
            layers.append(nn.Conv2d(inputs, inputs, kernel_size=3, padding=1))
            layers.append(nn.Conv2d(inputs, outputs, kernel_size=3, padding=1, stride=2))
        self.blocks = nn.ModuleList(layers)
        self.conv_out = nn.Conv2d(widths[-1], config.block_out_channels[0], kernel_size=3, padding=1)

    def forward(self, x):
        x = self.conv_in(x)
        x = nn.functional.silu(x)
        for block in self.blocks:
            x = block(x)
            x = nn.functional.silu(x)
        return self.conv_out(x)


class ControlNetModel(UNet2DConditionModel):
    """The way down of a U-Net with a convolution behind each of its states."""

    def built(self, config, widths, time_width):
        self.controlnet_cond_embedding = ConditioningEmbedding(config)
        blocks = self.downwards(config, widths, time_width)
        states = [widths[0]]
        for place, width in enumerate(widths):
            states += [width] * (config.layers_per_block + (place != len(widths) - 1))
        self.down_blocks = nn.ModuleList(blocks)
        self.controlnet_down_blocks = nn.ModuleList([nn.Conv2d(width, width, kernel_size=1) for width in states])
        self.controlnet_mid_block = nn.Conv2d(widths[-1], widths[-1], kernel_size=1)
        self.mid_block = MidBlock2D(config, widths[-1], config.heads[-1], config.transformer_layers_per_block[-1], time_width)

    def forward(self, sample, timestep, encoder_hidden_states, controlnet_cond, conditioning_scale=1.0, added_cond_kwargs=None, return_dict=True, **others):
        time = self.time_of(sample, timestep, added_cond_kwargs)
        sample = self.conv_in(sample)
        controlnet_cond = self.controlnet_cond_embedding(controlnet_cond)
        sample = sample + controlnet_cond
        states = (sample,)
        for block in self.down_blocks:
            sample, more = block(sample, time, encoder_hidden_states)
            states = states + more
        sample = self.mid_block(sample, time, encoder_hidden_states)
        turned = ()
        for state, convolution in zip(states, self.controlnet_down_blocks):
            turned = turned + (convolution(state),)
        states = turned
        middle = self.controlnet_mid_block(sample)
        states = [state * conditioning_scale for state in states]
        middle = middle * conditioning_scale
        return ModelOutput(down_block_res_samples=states, mid_block_res_sample=middle) if return_dict else (states, middle)


def build(config):
    """The ControlNet: what ``ControlNetModel`` gives."""
    return ControlNetModel(config)
