"""Qwen2.5-VL. Mirrors transformers 5.24.0 (``models/qwen2_5_vl``): Qwen2 beside a tower of windows, whose parameters count and whose work is not followed."""

from preflight_zoo.llama import LlamaRMSNorm
from preflight_zoo.pretrained import Configuration
from preflight_zoo.qwen2 import Qwen2Config, Qwen2Model
from preflight_zoo.vision_language import Tower, VisionLanguageHead, VisionLanguageModel
from torch import nn


class VisionNumbers(Configuration):
    def __init__(
        self, depth=32, hidden_size=1280, intermediate_size=3420, num_heads=16, in_channels=3, patch_size=14, temporal_patch_size=2, spatial_merge_size=2,
        out_hidden_size=3584, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.depth = depth
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_heads = num_heads
        self.in_channels = in_channels
        self.patch_size = patch_size
        self.temporal_patch_size = temporal_patch_size
        self.spatial_merge_size = spatial_merge_size
        self.out_hidden_size = out_hidden_size


class Qwen2_5_VLConfig(Configuration):
    def __init__(self, text_config=None, vision_config=None, **others):
        super().__init__(**others)
        self.text_config = Qwen2Config(**{**(text_config or {}), **others})
        self.vision_config = VisionNumbers(**(vision_config or {}))
        self.vocab_size = self.text_config.vocab_size
        self.hidden_size = self.text_config.hidden_size


class Embedded(nn.Module):
    def __init__(self, config):
        super().__init__()
        sides = (config.temporal_patch_size, config.patch_size, config.patch_size)
        self.proj = nn.Conv3d(config.in_channels, config.hidden_size, kernel_size=sides, stride=sides, bias=False)


class Looking(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, width * 3, bias=True)
        self.proj = nn.Linear(width, width)


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
        self.attn = Looking(config.hidden_size)
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
        self.patch_embed = Embedded(config)
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
