"""ViT. Mirrors transformers 5.24.0 (``models/vit``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import fused, joined_heads, scores, split_heads
from preflight_zoo.losses import classification_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn


class ViTConfig(Configuration):
    def __init__(
        self, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, hidden_act="gelu", hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, layer_norm_eps=1e-12, image_size=224, patch_size=16, num_channels=3, qkv_bias=True,
        encoder_stride=16, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.layer_norm_eps = layer_norm_eps
        self.image_size = image_size
        self.patch_size = patch_size
        self.num_channels = num_channels
        self.qkv_bias = qkv_bias
        self.encoder_stride = encoder_stride
        self.use_cache = False


class ViTPatchEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.projection = nn.Conv2d(config.num_channels, config.hidden_size, kernel_size=config.patch_size, stride=config.patch_size)

    def forward(self, pixel_values):
        return self.projection(pixel_values).flatten(2).transpose(1, 2)


class ViTEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.cls_token = nn.Parameter(torch.randn(1, 1, config.hidden_size))
        places = (config.image_size // config.patch_size) ** 2 + 1
        self.position_embeddings = nn.Parameter(torch.randn(1, places, config.hidden_size))
        self.patch_embeddings = ViTPatchEmbeddings(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, pixel_values):
        x = self.patch_embeddings(pixel_values)
        of_class = self.cls_token.expand(pixel_values.shape[0], -1, -1)
        x = torch.cat((of_class, x), dim=1)
        x = x + self.position_embeddings
        x = self.dropout(x)
        return x


class ViTAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.head_size = config.hidden_size // config.num_attention_heads
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.qkv_bias)
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.qkv_bias)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=config.qkv_bias)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        query = split_heads(self.q_proj(x), self.head_size)
        key = split_heads(self.k_proj(x), self.head_size)
        value = split_heads(self.v_proj(x), self.head_size)
        dropout = self.config.attention_probs_dropout_prob if self.training else 0.0
        scaling = self.head_size**-0.5
        if self.config._attn_implementation == "eager":
            weights = scores(query, key, None, scaling)
            weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
            weights = nn.functional.dropout(weights, p=dropout, training=self.training)
            attended = torch.matmul(weights, value)
            attended = attended.transpose(1, 2).contiguous()
        else:
            attended, weights = fused(query, key, value, None, dropout, scaling, 1, causal=False), None
        attended = joined_heads(attended)
        attended = self.o_proj(attended)
        return attended, weights


class ViTMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        x = self.fc1(x)
        x = nn.functional.gelu(x)
        x = self.fc2(x)
        return x


class ViTLayer(Block):
    def __init__(self, config):
        super().__init__()
        self.attention = ViTAttention(config)
        self.layernorm_before = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layernorm_after = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.mlp = ViTMLP(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def compute(self, x, cache):
        before = x
        x = self.layernorm_before(x)
        x, _ = self.attention(x)
        x = self.dropout(x)
        x = x + before
        before = x
        x = self.layernorm_after(x)
        x = self.mlp(x)
        x = self.dropout(x)
        x = x + before
        return x


class ViTPooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = nn.Tanh()

    def forward(self, x):
        return self.activation(self.dense(x[:, 0]))


class ViTModel(PretrainedModel):
    def __init__(self, config, add_pooling_layer=True):
        super().__init__(config)
        self.embeddings = ViTEmbeddings(config)
        self.layers = nn.ModuleList([ViTLayer(config) for _ in range(config.num_hidden_layers)])
        self.layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.pooler = ViTPooler(config) if add_pooling_layer else None

    def get_input_embeddings(self):
        return self.embeddings.patch_embeddings

    def forward(self, pixel_values=None, **others):
        wanted = self.embeddings.patch_embeddings.projection.weight.dtype
        if pixel_values.dtype != wanted:
            pixel_values = pixel_values.to(wanted)
        embedded = self.embeddings(pixel_values)
        x = embedded
        for layer in self.layers:
            x = layer(x)
        x = self.layernorm(x)
        pooled = self.pooler(x) if self.pooler is not None else None
        return ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=None, attentions=None)


class ViTForImageClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.vit = ViTModel(config, add_pooling_layer=False)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels) if config.num_labels > 0 else nn.Identity()

    def get_input_embeddings(self):
        return self.vit.get_input_embeddings()

    def forward(self, pixel_values=None, labels=None, **others):
        outputs = self.vit(pixel_values)
        x = outputs.last_hidden_state
        pooled = x[:, 0, :]
        logits = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


def build(config):
    """The image classifier: what ``AutoModelForImageClassification`` gives."""
    return ViTForImageClassification(config)
