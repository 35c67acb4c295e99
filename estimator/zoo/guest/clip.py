"""CLIP. Mirrors transformers 5.24.0 (``models/clip``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import causal_mask
from preflight_zoo.clip_layers import CLIPEncoder, CLIPTextEmbeddings, CLIPVisionEmbeddings
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from torch import nn


class CLIPTextConfig(Configuration):
    def __init__(
        self, vocab_size=49408, hidden_size=512, intermediate_size=2048, projection_dim=512, num_hidden_layers=12, num_attention_heads=8,
        max_position_embeddings=77, hidden_act="quick_gelu", layer_norm_eps=1e-5, attention_dropout=0.0, eos_token_id=49407, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.projection_dim = projection_dim
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.max_position_embeddings = max_position_embeddings
        self.hidden_act = hidden_act
        self.layer_norm_eps = layer_norm_eps
        self.attention_dropout = attention_dropout
        self.eos_token_id = eos_token_id


class CLIPVisionConfig(Configuration):
    def __init__(
        self, hidden_size=768, intermediate_size=3072, projection_dim=512, num_hidden_layers=12, num_attention_heads=12, num_channels=3,
        image_size=224, patch_size=32, hidden_act="quick_gelu", layer_norm_eps=1e-5, attention_dropout=0.0, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.projection_dim = projection_dim
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_channels = num_channels
        self.image_size = image_size
        self.patch_size = patch_size
        self.hidden_act = hidden_act
        self.layer_norm_eps = layer_norm_eps
        self.attention_dropout = attention_dropout


class CLIPConfig(Configuration):
    def __init__(self, text_config=None, vision_config=None, projection_dim=512, **others):
        super().__init__(**others)
        self.text_config = part(CLIPTextConfig, text_config, self._attn_implementation)
        self.vision_config = part(CLIPVisionConfig, vision_config, self._attn_implementation)
        self.projection_dim = projection_dim
        self.use_cache = False


def part(cls, given, attention):
    """The configuration of one tower, from its numbers or as it is."""
    if isinstance(given, cls):
        return given
    numbers = {} if given is None else dict(given)
    return cls(**{"attn_implementation": attention, **numbers})


class CLIPTextModel(PretrainedModel):
    def __init__(self, config):
        config = getattr(config, "text_config", config)
        super().__init__(config)
        self.embeddings = CLIPTextEmbeddings(config)
        self.encoder = CLIPEncoder(config)
        self.final_layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def get_input_embeddings(self):
        return self.embeddings.token_embedding

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, output_hidden_states=False, return_dict=True, **others):
        x = self.embeddings(input_ids, position_ids)
        mask = causal_mask(self.config, x, attention_mask, None, None, 0)
        states = [] if output_hidden_states else None
        x = self.encoder(x, mask, causal=True, states=states)
        x = self.final_layer_norm(x)
        rows = torch.arange(x.shape[0], device=x.device)
        # The token that ends the text is the one with the highest number in the first models, a number of its own since.
        if self.config.eos_token_id == 2:
            last = input_ids.to(dtype=torch.int, device=x.device).argmax(dim=-1)
        else:
            last = (input_ids.to(dtype=torch.int, device=x.device) == self.config.eos_token_id).int().argmax(dim=-1)
        pooled = x[rows, last]
        made = ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=None if states is None else tuple(states), attentions=None)
        return made if return_dict else made.to_tuple()


class CLIPTextModelWithProjection(PretrainedModel):
    def __init__(self, config):
        config = getattr(config, "text_config", config)
        super().__init__(config)
        self.text_model = CLIPTextModel(config)
        self.text_projection = nn.Linear(config.hidden_size, config.projection_dim, bias=False)

    def get_input_embeddings(self):
        return self.text_model.embeddings.token_embedding

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, output_hidden_states=False, return_dict=True, **others):
        outputs = self.text_model(input_ids, attention_mask, position_ids, output_hidden_states)
        projected = self.text_projection(outputs.pooler_output)
        made = ModelOutput(text_embeds=projected, last_hidden_state=outputs.last_hidden_state, hidden_states=outputs.hidden_states, attentions=None)
        return made if return_dict else made.to_tuple()


class CLIPVisionModel(PretrainedModel):
    def __init__(self, config):
        config = getattr(config, "vision_config", config)
        super().__init__(config)
        self.embeddings = CLIPVisionEmbeddings(config)
        self.pre_layrnorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.encoder = CLIPEncoder(config)
        self.post_layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def get_input_embeddings(self):
        return self.embeddings.patch_embedding

    def forward(self, pixel_values=None, output_hidden_states=False, return_dict=True, **others):
        x = self.embeddings(pixel_values)
        x = self.pre_layrnorm(x)
        states = [] if output_hidden_states else None
        x = self.encoder(x, None, causal=False, states=states)
        pooled = x[:, 0, :]
        pooled = self.post_layernorm(pooled)
        made = ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=None if states is None else tuple(states), attentions=None)
        return made if return_dict else made.to_tuple()


class CLIPVisionModelWithProjection(PretrainedModel):
    def __init__(self, config):
        config = getattr(config, "vision_config", config)
        super().__init__(config)
        self.vision_model = CLIPVisionModel(config)
        self.visual_projection = nn.Linear(config.hidden_size, config.projection_dim, bias=False)

    def get_input_embeddings(self):
        return self.vision_model.embeddings.patch_embedding

    def forward(self, pixel_values=None, output_hidden_states=False, return_dict=True, **others):
        outputs = self.vision_model(pixel_values, output_hidden_states)
        embedded = self.visual_projection(outputs.pooler_output)
        made = ModelOutput(image_embeds=embedded, last_hidden_state=outputs.last_hidden_state, hidden_states=outputs.hidden_states, attentions=None)
        return made if return_dict else made.to_tuple()


def lengths(x):
    """The length of each vector, written out."""
    squared = torch.pow(x, 2)
    summed = torch.sum(squared, dim=-1, keepdim=True)
    return torch.pow(summed, 0.5)


def one_way(scores):
    return nn.functional.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def contrastive_loss(scores):
    """Every text is to find its picture, and every picture its text."""
    of_texts = one_way(scores)
    of_pictures = one_way(scores.T)
    return (of_texts + of_pictures) / 2.0


class CLIPModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.text_model = CLIPTextModel(config.text_config)
        self.vision_model = CLIPVisionModel(config.vision_config)
        self.visual_projection = nn.Linear(config.vision_config.hidden_size, config.projection_dim, bias=False)
        self.text_projection = nn.Linear(config.text_config.hidden_size, config.projection_dim, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(2.6592))

    def get_text_features(self, input_ids=None, attention_mask=None, position_ids=None, **others):
        outputs = self.text_model(input_ids, attention_mask, position_ids)
        outputs.pooler_output = self.text_projection(outputs.pooler_output)
        return outputs

    def get_image_features(self, pixel_values=None, **others):
        outputs = self.vision_model(pixel_values)
        outputs.pooler_output = self.visual_projection(outputs.pooler_output)
        return outputs

    def forward(self, input_ids=None, pixel_values=None, attention_mask=None, position_ids=None, return_loss=None, **others):
        of_pictures = self.get_image_features(pixel_values)
        of_texts = self.get_text_features(input_ids, attention_mask, position_ids)
        pictures = of_pictures.pooler_output
        texts = of_texts.pooler_output
        pictures = pictures / lengths(pictures)
        texts = texts / lengths(texts)
        scores = torch.matmul(texts, pictures.t())
        scores = scores * self.logit_scale.exp()
        turned = scores.t()
        loss = None
        if return_loss:
            loss = contrastive_loss(scores)
        return ModelOutput(
            loss=loss, logits_per_image=turned, logits_per_text=scores, text_embeds=texts, image_embeds=pictures, text_model_output=of_texts,
            vision_model_output=of_pictures,
        )  # fmt: skip


def build(config):
    """Both towers: what ``AutoModel`` gives."""
    return CLIPModel(config)
