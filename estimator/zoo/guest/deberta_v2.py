"""DeBERTa v2 and v3. Mirrors transformers 5.24.0 (``models/deberta_v2``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.deberta_layers import DebertaV2Layer, distances
from preflight_zoo.losses import token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from torch import nn


class DebertaV2Config(Configuration):
    def __init__(
        self, vocab_size=128100, hidden_size=1536, num_hidden_layers=24, num_attention_heads=24, intermediate_size=6144, hidden_act="gelu",
        hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, max_position_embeddings=512, type_vocab_size=0, layer_norm_eps=1e-7,
        relative_attention=False, max_relative_positions=-1, position_buckets=-1, norm_rel_ebd="none", share_att_key=False, pad_token_id=0,
        position_biased_input=True, pos_att_type=None, pooler_dropout=0.0, pooler_hidden_act="gelu", cls_dropout=None, conv_kernel_size=0,
        **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.max_position_embeddings = max_position_embeddings
        self.type_vocab_size = type_vocab_size
        self.layer_norm_eps = layer_norm_eps
        self.relative_attention = relative_attention
        self.max_relative_positions = max_relative_positions if max_relative_positions > 0 else max_position_embeddings
        self.position_buckets = position_buckets
        self.norm_rel_ebd = norm_rel_ebd
        self.share_att_key = share_att_key
        self.pad_token_id = pad_token_id
        self.position_biased_input = position_biased_input
        self.pos_att_type = pos_att_type.lower().split("|") if isinstance(pos_att_type, str) else list(pos_att_type or [])
        self.pooler_dropout = pooler_dropout
        self.cls_dropout = hidden_dropout_prob if cls_dropout is None else cls_dropout
        self.conv_kernel_size = conv_kernel_size
        self.span = position_buckets if position_buckets > 0 else self.max_relative_positions
        self.use_cache = False


class DebertaV2Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = None
        if config.position_biased_input:
            self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size) if config.type_vocab_size > 0 else None
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)), persistent=False)

    def forward(self, input_ids, token_type_ids, mask):
        words = self.word_embeddings(input_ids)
        if self.position_embeddings is not None:
            places = self.position_embeddings(self.position_ids[:, : input_ids.shape[1]].long())
            x = words + places
        else:
            places = torch.zeros_like(words)
            x = words
        if self.token_type_embeddings is not None:
            x = x + self.token_type_embeddings(token_type_ids)
        x = self.LayerNorm(x)
        mask = mask.unsqueeze(2).to(x.dtype)
        x = x * mask
        x = self.dropout(x)
        return x


class ConvLayer(nn.Module):
    """A convolution over the texts, added to what the first layer gives."""

    def __init__(self, config):
        super().__init__()
        size = config.conv_kernel_size
        self.conv = nn.Conv1d(config.hidden_size, config.hidden_size, size, padding=(size - 1) // 2)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, made, mask):
        out = self.conv(x.permute(0, 2, 1).contiguous()).permute(0, 2, 1).contiguous()
        absent = (1 - mask).bool()
        out.masked_fill_(absent.unsqueeze(-1).expand(out.size()), 0)
        out = torch.tanh(self.dropout(out))
        summed = made + out
        output = self.LayerNorm(summed).to(summed)
        return output * mask.unsqueeze(2).to(output.dtype)


class DebertaV2Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layer = nn.ModuleList([DebertaV2Layer(config) for _ in range(config.num_hidden_layers)])
        if config.relative_attention:
            self.rel_embeddings = nn.Embedding(config.span * 2, config.hidden_size)
        if "layer_norm" in config.norm_rel_ebd:
            self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.conv = ConvLayer(config) if config.conv_kernel_size > 0 else None

    def forward(self, x, mask):
        """The states of every layer: all live until the model has taken the last."""
        pairs = mask.unsqueeze(1).unsqueeze(2)
        pairs = pairs * pairs.squeeze(-2).unsqueeze(-1)
        relative = embeddings = None
        if self.config.relative_attention:
            relative = distances(self.config, x)
            embeddings = self.rel_embeddings.weight
            if "layer_norm" in self.config.norm_rel_ebd:
                embeddings = self.LayerNorm(embeddings)
        states = (x,)
        before = x
        for place, layer in enumerate(self.layer):
            made = layer(x, mask=pairs, relative=relative, embeddings=embeddings)
            if place == 0 and self.conv is not None:
                made = self.conv(before, made, mask)
            states = states + (made,)
            x = made
        return states


class DebertaV2Model(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = DebertaV2Embeddings(config)
        self.encoder = DebertaV2Encoder(config)

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, **others):
        if attention_mask is None:
            attention_mask = torch.ones(input_ids.size(), device=input_ids.device)
        if token_type_ids is None:
            token_type_ids = torch.zeros(input_ids.size(), dtype=torch.long, device=input_ids.device)
        embedded = self.embeddings(input_ids, token_type_ids, attention_mask)
        states = self.encoder(embedded, attention_mask)
        return ModelOutput(last_hidden_state=states[-1], hidden_states=None, attentions=None)


class ContextPooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.pooler_dropout)

    def forward(self, x):
        first = x[:, 0]
        first = self.dropout(first)
        pooled = self.dense(first)
        return nn.functional.gelu(pooled)


class DebertaV2ForSequenceClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.deberta = DebertaV2Model(config)
        self.pooler = ContextPooler(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.dropout = nn.Dropout(config.cls_dropout)

    def get_input_embeddings(self):
        return self.deberta.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.deberta(input_ids, **others)
        x = outputs.last_hidden_state
        pooled = self.pooler(x)
        pooled = self.dropout(pooled)
        logits = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = self.loss(logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)

    def loss(self, logits, labels):
        if self.config.num_labels == 1:
            return nn.MSELoss()(logits.view(-1).to(labels.dtype), labels.view(-1))
        if self.config.problem_type == "multi_label_classification":
            return nn.BCEWithLogitsLoss()(logits, labels)
        return token_loss(logits, labels, self.config.num_labels)


def build(config):
    """The model with its sequence classifier: what ``AutoModelForSequenceClassification`` gives."""
    return DebertaV2ForSequenceClassification(config)
