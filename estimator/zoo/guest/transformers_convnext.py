"""ConvNeXt of transformers. Mirrors transformers 5.24.0 (``models/convnext``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.bert import ACTIVATIONS
from preflight_zoo.losses import classification_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from preflight_zoo.stochastic import rates
from torch import nn


class ConvNextConfig(Configuration):
    def __init__(
        self, num_channels=3, patch_size=4, num_stages=4, hidden_sizes=(96, 192, 384, 768), depths=(3, 3, 9, 3), hidden_act="gelu", layer_norm_eps=1e-12,
        layer_scale_init_value=1e-6, drop_path_rate=0.0, image_size=224, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.num_channels = num_channels
        self.patch_size = patch_size
        self.num_stages = num_stages
        self.hidden_sizes = hidden_sizes
        self.depths = depths
        self.hidden_act = hidden_act
        self.layer_norm_eps = layer_norm_eps
        self.layer_scale_init_value = layer_scale_init_value
        self.drop_path_rate = drop_path_rate
        self.image_size = image_size


class LayerNormOfChannels(nn.LayerNorm):
    """Over the channels of pictures whose channels come first."""

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = super().forward(x)
        x = x.permute(0, 3, 1, 2)
        return x


class DropPath(nn.Module):
    """Leaves out whole samples at random while training."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if self.rate == 0.0 or not self.training:
            return x
        kept = 1 - self.rate
        noise = torch.rand((x.shape[0],) + (1,) * (x.ndim - 1), dtype=x.dtype, device=x.device)
        noise = torch.floor(noise + kept)
        return x.div(kept) * noise


class ConvNextEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        first = config.hidden_sizes[0]
        self.patch_embeddings = nn.Conv2d(config.num_channels, first, kernel_size=config.patch_size, stride=config.patch_size)
        self.layernorm = LayerNormOfChannels(first, eps=1e-6)

    def forward(self, pixel_values):
        x = self.patch_embeddings(pixel_values)
        x = self.layernorm(x)
        return x


class ConvNextLayer(nn.Module):
    def __init__(self, config, width, rate):
        super().__init__()
        self.dwconv = nn.Conv2d(width, width, kernel_size=7, padding=3, groups=width)
        self.layernorm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.act = ACTIVATIONS[config.hidden_act]
        self.pwconv2 = nn.Linear(4 * width, width)
        self.layer_scale_parameter = nn.Parameter(config.layer_scale_init_value * torch.ones(width)) if config.layer_scale_init_value > 0 else None
        self.drop_path = DropPath(rate) if rate > 0.0 else nn.Identity()

    def forward(self, x):
        before = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.layernorm(x)
        x = self.pwconv1(x)
        x = self.act(x)
        x = self.pwconv2(x)
        if self.layer_scale_parameter is not None:
            x = self.layer_scale_parameter * x
        x = x.permute(0, 3, 1, 2)
        x = before + self.drop_path(x)
        return x


class ConvNextStage(nn.Module):
    def __init__(self, config, before, width, stride, each):
        super().__init__()
        shrinks = before != width or stride > 1
        layers = [LayerNormOfChannels(before, eps=1e-6), nn.Conv2d(before, width, kernel_size=2, stride=stride)] if shrinks else []
        self.downsampling_layer = nn.ModuleList(layers)
        self.layers = nn.ModuleList([ConvNextLayer(config, width, rate) for rate in each])

    def forward(self, x):
        for layer in self.downsampling_layer:
            x = layer(x)
        for layer in self.layers:
            x = layer(x)
        return x


class ConvNextEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        every, before, stages = rates(config.drop_path_rate, sum(config.depths)), config.hidden_sizes[0], []
        for place in range(config.num_stages):
            width, count = config.hidden_sizes[place], config.depths[place]
            stages.append(ConvNextStage(config, before, width, 2 if place > 0 else 1, every[:count]))
            every, before = every[count:], width
        self.stages = nn.ModuleList(stages)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return ModelOutput(last_hidden_state=x)


class ConvNextModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = ConvNextEmbeddings(config)
        self.encoder = ConvNextEncoder(config)
        self.layernorm = nn.LayerNorm(config.hidden_sizes[-1], eps=config.layer_norm_eps)

    def forward(self, pixel_values=None, **others):
        embedded = self.embeddings(pixel_values)
        encoded = self.encoder(embedded)
        x = encoded.last_hidden_state
        pooled = self.layernorm(x.mean([-2, -1]))
        return ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=None)


class ConvNextForImageClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.convnext = ConvNextModel(config)
        self.classifier = nn.Linear(config.hidden_sizes[-1], config.num_labels) if config.num_labels > 0 else nn.Identity()

    def forward(self, pixel_values=None, labels=None, **others):
        outputs = self.convnext(pixel_values)
        pooled = outputs.pooler_output
        logits = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None)


def build(config):
    """The image classifier: what ``AutoModelForImageClassification`` gives."""
    return ConvNextForImageClassification(config)
