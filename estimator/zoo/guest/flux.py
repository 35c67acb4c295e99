"""Flux. Mirrors diffusers 0.42.1 (``models/transformers/transformer_flux.py``): parameter names and the operations of a training step."""

import math

import torch
from preflight_zoo.diffusion import DiffusionConfig, DiffusionModel
from preflight_zoo.flux_layers import FinalModulation, FluxSingleTransformerBlock, FluxTransformerBlock
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.unet_2d_condition import TimestepEmbedding, waves
from torch import nn
from torch.utils.checkpoint import checkpoint

#: Base of the places' angles, and channels of a step's waves.
THETA, STEP_WAVES = 10000, 256


class FluxConfig(DiffusionConfig):
    def __init__(
        self, patch_size=1, in_channels=64, out_channels=None, num_layers=19, num_single_layers=38, attention_head_dim=128, num_attention_heads=24,
        joint_attention_dim=4096, pooled_projection_dim=768, guidance_embeds=False, axes_dims_rope=(16, 56, 56), **others,
    ):  # fmt: skip
        self.patch_size = patch_size
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.num_layers = num_layers
        self.num_single_layers = num_single_layers
        self.attention_head_dim = attention_head_dim
        self.num_attention_heads = num_attention_heads
        self.joint_attention_dim = joint_attention_dim
        self.pooled_projection_dim = pooled_projection_dim
        self.guidance_embeds = guidance_embeds
        self.axes_dims_rope = axes_dims_rope


class Embeddings(nn.Module):
    """Of the step, of the guidance where the model was distilled with it, and of the text as a whole."""

    def __init__(self, width, pooled, guided):
        super().__init__()
        self.timestep_embedder = TimestepEmbedding(STEP_WAVES, width)
        if guided:
            self.guidance_embedder = TimestepEmbedding(STEP_WAVES, width)
        self.text_embedder = TimestepEmbedding(pooled, width)

    def forward(self, step, guidance, pooled):
        made = self.timestep_embedder(waves(step, STEP_WAVES, True, 0).to(dtype=pooled.dtype))
        if guidance is not None:
            made = made + self.guidance_embedder(waves(guidance, STEP_WAVES, True, 0).to(dtype=pooled.dtype))
        return made + self.text_embedder(pooled)


def places(ids, sizes):
    """Cosines and sines of each place along each axis, every one twice."""
    places_of = ids.float()
    cosines, sines = [], []
    for axis, size in enumerate(sizes):
        steps = torch.arange(0, size, 2, dtype=torch.float64, device=ids.device)
        angles = torch.outer(places_of[:, axis], 1.0 / THETA ** (steps / size))
        cosines.append(angles.cos().repeat_interleave(2, dim=1).float())
        sines.append(angles.sin().repeat_interleave(2, dim=1).float())
    return torch.cat(cosines, dim=-1), torch.cat(sines, dim=-1)


def with_additions(blocks, added):
    """Blocks, each with what a ControlNet adds behind it."""
    if added is None:
        return [(block, None) for block in blocks]
    return [(block, added[index // math.ceil(len(blocks) / len(added))]) for index, block in enumerate(blocks)]


class FluxTransformer2DModel(DiffusionModel):
    gradient_checkpointing = False

    def __init__(self, config):
        super().__init__()
        self.config = config
        heads, size = config.num_attention_heads, config.attention_head_dim
        self.inner_dim = width = heads * size
        self.pos_embed = nn.Identity()
        self.time_text_embed = Embeddings(width, config.pooled_projection_dim, config.guidance_embeds)
        self.context_embedder = nn.Linear(config.joint_attention_dim, width)
        self.x_embedder = nn.Linear(config.in_channels, width)
        self.transformer_blocks = nn.ModuleList([FluxTransformerBlock(width, heads, size) for _ in range(config.num_layers)])
        self.single_transformer_blocks = nn.ModuleList([FluxSingleTransformerBlock(width, heads, size) for _ in range(config.num_single_layers)])
        self.norm_out = FinalModulation(width, 2)
        self.proj_out = nn.Linear(width, config.patch_size**2 * (config.out_channels or config.in_channels))

    def forward(
        self, hidden_states, encoder_hidden_states=None, pooled_projections=None, timestep=None, img_ids=None, txt_ids=None, guidance=None,
        joint_attention_kwargs=None, controlnet_block_samples=None, controlnet_single_block_samples=None, return_dict=True, **others,
    ):  # fmt: skip
        x = self.x_embedder(hidden_states)
        timestep = timestep.to(x.dtype) * 1000
        guidance = None if guidance is None else guidance.to(x.dtype) * 1000
        emb = self.time_text_embed(timestep, guidance, pooled_projections)
        encoded = self.context_embedder(encoder_hidden_states)
        of_text, of_picture = [ids[0] if ids.ndim == 3 else ids for ids in (txt_ids, img_ids)]
        turns = places(torch.cat((of_text, of_picture), dim=0), self.config.axes_dims_rope)
        steps = with_additions(self.transformer_blocks, controlnet_block_samples)
        for block, added in steps + with_additions(self.single_transformer_blocks, controlnet_single_block_samples):
            if self.gradient_checkpointing and torch.is_grad_enabled():
                encoded, x = checkpoint(block, x, encoded, emb, turns, use_reentrant=False)
            else:
                encoded, x = block(x, encoded, emb, turns)
            if added is not None:
                x = x + added
        x = self.norm_out(x, emb)
        x = self.proj_out(x)
        return ModelOutput(sample=x) if return_dict else (x,)


def build(config):
    """The denoiser: what ``FluxTransformer2DModel`` gives."""
    return FluxTransformer2DModel(config)
