"""Language models beside a tower that sees, as they are when they only read. Mirrors transformers 5.24.0 (``models/qwen2_5_vl``, ``models/qwen3_vl``)."""

from preflight_zoo.language_heads import CausalHead
from preflight_zoo.pretrained import Configuration, PretrainedModel
from torch import nn


class VisionLanguageConfig(Configuration):
    """``reading`` is the class of what describes the language model; ``seeing`` are the tower's numbers where none are given."""

    def __init__(self, text_config=None, vision_config=None, **others):
        super().__init__(**others)
        self.text_config = self.reading(**{**(text_config or {}), **others})
        self.vision_config = Configuration(**{**self.seeing, **(vision_config or {})})
        self.vocab_size = self.text_config.vocab_size
        self.hidden_size = self.text_config.hidden_size


class Patches(nn.Module):
    def __init__(self, config, bias):
        super().__init__()
        sides = (config.temporal_patch_size, config.patch_size, config.patch_size)
        self.proj = nn.Conv3d(config.in_channels, config.hidden_size, kernel_size=sides, stride=sides, bias=bias)


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, width * 3, bias=True)
        self.proj = nn.Linear(width, width)


class Tower(nn.Module):
    """Holds what sees; what pictures do in it is not followed."""

    def forward(self, *args, **others):
        from preflight_host import not_modelled

        not_modelled("what a vision-language model sees")


class VisionLanguageModel(PretrainedModel):
    """``tower_class`` and ``language_class`` say which two are beside each other."""

    def __init__(self, config):
        super().__init__(config)
        self.visual = self.tower_class(config.vision_config)
        self.language_model = self.language_class(config.text_config)

    def get_input_embeddings(self):
        return self.language_model.get_input_embeddings()

    def forward(
        self, input_ids=None, pixel_values=None, pixel_values_videos=None, image_grid_thw=None, video_grid_thw=None, position_ids=None, **others
    ):  # fmt: skip
        if pixel_values is not None or pixel_values_videos is not None:
            self.visual(pixel_values)
        if position_ids is not None and position_ids.ndim > 2:  # noqa: PLR2004  time, height and breadth, which are the same for texts
            position_ids = position_ids[0]
        return self.language_model(input_ids=input_ids, position_ids=position_ids, **others)


class VisionLanguageHead(CausalHead):
    """The next token's scores on top of both."""

    def __init__(self, config):
        super().__init__(config)
        self.model = self.model_class(config)
        self.lm_head = nn.Linear(config.text_config.hidden_size, config.text_config.vocab_size, bias=False)
        if config.text_config.tie_word_embeddings:
            self.lm_head.weight = self.model.language_model.embed_tokens.weight
