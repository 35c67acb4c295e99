"""Qwen2.5-VL. Mirrors transformers 5.24.0 (``models/qwen2_5_vl``): Qwen2 beside a tower of windows, whose parameters count and whose work is not followed."""

from preflight_zoo.llama import LlamaRMSNorm
from preflight_zoo.qwen2 import Qwen2Config, Qwen2Model
from preflight_zoo.vision_language import Attention, Patches, Tower, VisionLanguageConfig, VisionLanguageHead, VisionLanguageModel
from torch import nn


class Qwen2_5_VLConfig(VisionLanguageConfig):
    reading = Qwen2Config
    seeing = {
        "depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "in_channels": 3, "patch_size": 14, "temporal_patch_size": 2,
        "spatial_merge_size": 2, "out_hidden_size": 3584,
    }  # fmt: skip


class Gated(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate_proj = nn.Linear(width, inner)
        self.up_proj = nn.Linear(width, inner)
        self.down_proj = nn.Linear(inner, width)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = LlamaRMSNorm(config.hidden_size, 1e-6)
        self.norm2 = LlamaRMSNorm(config.hidden_size, 1e-6)
        self.attn = Attention(config.hidden_size)
        self.mlp = Gated(config.hidden_size, config.intermediate_size)


class Merger(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size * config.spatial_merge_size**2
        self.ln_q = LlamaRMSNorm(config.hidden_size, 1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, config.out_hidden_size))


class Windows(Tower):
    def __init__(self, config):
        super().__init__()
        self.patch_embed = Patches(config, bias=False)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.depth)])
        self.merger = Merger(config)


class Qwen2_5_VLModel(VisionLanguageModel):
    tower_class = Windows
    language_class = Qwen2Model


class Qwen2_5_VLForConditionalGeneration(VisionLanguageHead):
    model_class = Qwen2_5_VLModel


def build(config):
    """The model with its language-modelling head."""
    return Qwen2_5_VLForConditionalGeneration(config)
