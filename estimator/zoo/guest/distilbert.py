"""DistilBERT. Mirrors transformers 5.24.0 (``models/distilbert``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import fused, joined_heads, padding_mask, scores, split_heads
from preflight_zoo.losses import classification_loss, token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from torch import nn

ACTIVATIONS = {"gelu": nn.functional.gelu, "relu": nn.functional.relu}


class DistilBertConfig(Configuration):
    def __init__(
        self, vocab_size=30522, max_position_embeddings=512, n_layers=6, n_heads=12, dim=768, hidden_dim=3072, dropout=0.1, attention_dropout=0.1,
        activation="gelu", seq_classif_dropout=0.2, pad_token_id=0, tie_word_embeddings=True, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.max_position_embeddings = max_position_embeddings
        self.n_layers = n_layers
        self.n_heads = n_heads
        self.dim = dim
        self.hidden_dim = hidden_dim
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation = activation
        self.seq_classif_dropout = seq_classif_dropout
        self.pad_token_id = pad_token_id
        self.tie_word_embeddings = tie_word_embeddings
        self.hidden_size = dim
        self.num_hidden_layers = n_layers
        self.num_attention_heads = n_heads


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)), persistent=False)

    def forward(self, input_ids, inputs_embeds, position_ids):
        if input_ids is not None:
            inputs_embeds = self.word_embeddings(input_ids)
        length = inputs_embeds.size(1)
        if position_ids is None:
            position_ids = self.position_ids[:, :length]
        of_positions = self.position_embeddings(position_ids)
        x = inputs_embeds + of_positions
        x = self.LayerNorm(x)
        x = self.dropout(x)
        return x


class DistilBertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.head_size = config.dim // config.n_heads
        self.scaling = self.head_size**-0.5
        self.q_lin = nn.Linear(config.dim, config.dim)
        self.k_lin = nn.Linear(config.dim, config.dim)
        self.v_lin = nn.Linear(config.dim, config.dim)
        self.out_lin = nn.Linear(config.dim, config.dim)
        self.dropout = nn.Dropout(config.attention_dropout)

    def forward(self, x, mask):
        query = split_heads(self.q_lin(x), self.head_size)
        key = split_heads(self.k_lin(x), self.head_size)
        value = split_heads(self.v_lin(x), self.head_size)
        dropout = self.dropout.p if self.training else 0.0
        if self.config._attn_implementation == "eager":
            weights = scores(query, key, mask, self.scaling)
            weights = nn.functional.softmax(weights, dim=-1)
            weights = nn.functional.dropout(weights, p=dropout, training=self.training)
            attended = torch.matmul(weights, value)
            attended = attended.transpose(1, 2).contiguous()
        else:
            attended, weights = fused(query, key, value, mask, dropout, self.scaling, groups=1, causal=False), None
        attended = joined_heads(attended)
        attended = self.out_lin(attended)
        return attended, weights


class FFN(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dropout = nn.Dropout(config.dropout)
        self.lin1 = nn.Linear(config.dim, config.hidden_dim)
        self.lin2 = nn.Linear(config.hidden_dim, config.dim)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x):
        x = self.lin1(x)
        x = self.activation(x)
        x = self.lin2(x)
        x = self.dropout(x)
        return x


class TransformerBlock(Block):
    def __init__(self, config):
        super().__init__()
        self.attention = DistilBertSelfAttention(config)
        self.sa_layer_norm = nn.LayerNorm(config.dim, eps=1e-12)
        self.ffn = FFN(config)
        self.output_layer_norm = nn.LayerNorm(config.dim, eps=1e-12)

    def compute(self, x, cache, mask):
        # The weights of eager attention stay named until the block returns, as they do in the library.
        attended, weights = self.attention(x, mask)
        attended = self.sa_layer_norm(attended + x)
        fed = self.ffn(attended)
        fed = self.output_layer_norm(fed + attended)
        return fed


class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList([TransformerBlock(config) for _ in range(config.n_layers)])

    def forward(self, x, mask):
        for layer in self.layer:
            x = layer(x, mask=mask)
        return x


class DistilBertModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = Embeddings(config)
        self.transformer = Transformer(config)

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, position_ids=None, **others):
        # The embeddings stay named until the encoder returns, as they do in the library.
        embeddings = self.embeddings(input_ids, inputs_embeds, position_ids)
        mask = padding_mask(self.config, embeddings, attention_mask)
        x = self.transformer(embeddings, mask)
        return ModelOutput(last_hidden_state=x, hidden_states=None, attentions=None)


class DistilBertForMaskedLM(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.activation = ACTIVATIONS[config.activation]
        self.distilbert = DistilBertModel(config)
        self.vocab_transform = nn.Linear(config.dim, config.dim)
        self.vocab_layer_norm = nn.LayerNorm(config.dim, eps=1e-12)
        self.vocab_projector = nn.Linear(config.dim, config.vocab_size)
        if config.tie_word_embeddings:
            self.vocab_projector.weight = self.distilbert.embeddings.word_embeddings.weight

    def get_input_embeddings(self):
        return self.distilbert.embeddings.word_embeddings

    def get_output_embeddings(self):
        return self.vocab_projector

    def forward(self, input_ids=None, labels=None, **others):
        hidden_states = self.distilbert(input_ids, **others).last_hidden_state
        logits = self.vocab_transform(hidden_states)
        logits = self.activation(logits)
        logits = self.vocab_layer_norm(logits)
        logits = self.vocab_projector(logits)
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, logits.size(-1))
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class DistilBertForSequenceClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.classifier = nn.Linear(config.dim, config.num_labels)
        self.dropout = nn.Dropout(config.seq_classif_dropout)

    def get_input_embeddings(self):
        return self.distilbert.embeddings.word_embeddings

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.distilbert(input_ids, **others)
        hidden_state = outputs.last_hidden_state
        pooled = hidden_state[:, 0]
        pooled = self.pre_classifier(pooled)
        pooled = nn.functional.relu(pooled)
        pooled = self.dropout(pooled)
        logits = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


def build(config):
    """The classifier: what ``AutoModelForSequenceClassification`` gives."""
    return DistilBertForSequenceClassification(config)
