"""Qwen3-VL. Mirrors transformers 5.24.0 (``models/qwen3_vl``): Qwen3 beside a tower, whose parameters count and whose work is not followed."""

from preflight_zoo.qwen3 import Qwen3Config, Qwen3Model
from preflight_zoo.vision_language import Attention, Patches, Tower, VisionLanguageConfig, VisionLanguageHead, VisionLanguageModel
from torch import nn


class Qwen3VLConfig(VisionLanguageConfig):
    reading = Qwen3Config
    seeing = {
        "depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "in_channels": 3, "patch_size": 16, "temporal_patch_size": 2,
        "spatial_merge_size": 2, "out_hidden_size": 3584, "num_position_embeddings": 2304, "deepstack_visual_indexes": (8, 16, 24),
    }  # fmt: skip


class Widened(nn.Module):
    def __init__(self, width, inner, outputs):
        super().__init__()
        self.linear_fc1 = nn.Linear(width, inner)
        self.linear_fc2 = nn.Linear(inner, outputs)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.hidden_size, eps=1e-6)
        self.norm2 = nn.LayerNorm(config.hidden_size, eps=1e-6)
        self.attn = Attention(config.hidden_size)
        self.mlp = Widened(config.hidden_size, config.intermediate_size, config.hidden_size)


class Merger(Widened):
    """Four places as one, for the language model's first layers too."""

    def __init__(self, config, normed):
        width = config.hidden_size * config.spatial_merge_size**2
        super().__init__(width, width, config.out_hidden_size)
        self.norm = nn.LayerNorm(normed, eps=1e-6)


class Stacked(Tower):
    def __init__(self, config):
        super().__init__()
        self.patch_embed = Patches(config, bias=True)
        self.pos_embed = nn.Embedding(config.num_position_embeddings, config.hidden_size)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.depth)])
        self.merger = Merger(config, config.hidden_size)
        width = config.hidden_size * config.spatial_merge_size**2
        self.deepstack_merger_list = nn.ModuleList([Merger(config, width) for _ in config.deepstack_visual_indexes])


class Qwen3VLModel(VisionLanguageModel):
    tower_class = Stacked
    language_class = Qwen3Model


class Qwen3VLForConditionalGeneration(VisionLanguageHead):
    model_class = Qwen3VLModel


def build(config):
    """The model with its language-modelling head."""
    return Qwen3VLForConditionalGeneration(config)
