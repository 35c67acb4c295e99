"""BERT. Mirrors transformers 5.24.0 (``models/bert``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import fused, joined_heads, padding_mask, scores, split_heads
from preflight_zoo.choice_heads import MultipleChooser
from preflight_zoo.losses import classification_loss, token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block, Configuration, PretrainedModel
from preflight_zoo.token_heads import QuestionAnswerer, TokenClassifier
from torch import nn


class BertConfig(Configuration):
    def __init__(
        self, vocab_size=30522, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, hidden_act="gelu",
        hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, max_position_embeddings=512, type_vocab_size=2, layer_norm_eps=1e-12,
        pad_token_id=0, use_cache=True, classifier_dropout=None, tie_word_embeddings=True, **others,
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
        self.pad_token_id = pad_token_id
        self.use_cache = use_cache
        self.classifier_dropout = classifier_dropout
        self.tie_word_embeddings = tie_word_embeddings


ACTIVATIONS = {"gelu": nn.functional.gelu, "relu": nn.functional.relu, "silu": nn.functional.silu}


class BertEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings).expand((1, -1)), persistent=False)
        self.register_buffer("token_type_ids", torch.zeros(self.position_ids.size(), dtype=torch.long), persistent=False)

    def positions(self, input_ids, embeds):
        return self.position_ids[:, : embeds.shape[1] if input_ids is None else input_ids.shape[1]]

    def forward(self, input_ids, token_type_ids, position_ids, inputs_embeds):
        if position_ids is None:
            position_ids = self.positions(input_ids, inputs_embeds)
        batch, length = input_ids.size() if input_ids is not None else inputs_embeds.size()[:-1]
        if token_type_ids is None:
            types = self.token_type_ids.expand(position_ids.shape[0], -1)
            types = torch.gather(types, dim=1, index=position_ids)
            token_type_ids = types.expand(batch, length)
        if inputs_embeds is None:
            inputs_embeds = self.word_embeddings(input_ids)
        of_types = self.token_type_embeddings(token_type_ids)
        x = inputs_embeds + of_types
        of_positions = self.position_embeddings(position_ids)
        x = x + of_positions
        x = self.LayerNorm(x)
        x = self.dropout(x)
        return x


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.head_size = config.hidden_size // config.num_attention_heads
        self.scaling = self.head_size**-0.5
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, x, mask):
        query = split_heads(self.query(x), self.head_size)
        key = split_heads(self.key(x), self.head_size)
        value = split_heads(self.value(x), self.head_size)
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
        return attended, weights


class BertResidual(nn.Module):
    """A projection, dropout, and the normalised sum with what came in."""

    def __init__(self, inputs, config):
        super().__init__()
        self.dense = nn.Linear(inputs, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, before):
        x = self.dense(x)
        x = self.dropout(x)
        return self.LayerNorm(x + before)


class BertAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertResidual(config.hidden_size, config)

    def forward(self, x, mask):
        attended, weights = self.self(x, mask)
        attended = self.output(attended, x)
        return attended, weights


class BertIntermediate(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.act = ACTIVATIONS[config.hidden_act]

    def forward(self, x):
        x = self.dense(x)
        return self.act(x)


class BertLayer(Block):
    def __init__(self, config):
        super().__init__()
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertResidual(config.intermediate_size, config)

    def compute(self, x, cache, mask):
        # The weights of eager attention stay named until the layer returns, as they do in the library.
        attended, weights = self.attention(x, mask)
        inner = self.intermediate(attended)
        return self.output(inner, attended)


class BertEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, x, mask):
        for layer in self.layer:
            x = layer(x, mask=mask)
        return x


class BertPooler(nn.Module):
    """The first token's state, once more projected."""

    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = nn.Tanh()

    def forward(self, x):
        return self.activation(self.dense(x[:, 0]))


class BertModel(PretrainedModel):
    embeddings_class = BertEmbeddings

    def __init__(self, config, add_pooling_layer=True):
        super().__init__(config)
        self.embeddings = self.embeddings_class(config)
        self.encoder = BertEncoder(config)
        self.pooler = BertPooler(config) if add_pooling_layer else None

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, inputs_embeds=None, **others):
        embedded = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        mask = padding_mask(self.config, embedded, attention_mask)
        x = self.encoder(embedded, mask)
        pooled = self.pooler(x) if self.pooler is not None else None
        return ModelOutput(last_hidden_state=x, pooler_output=pooled, hidden_states=None, attentions=None)


class BertPredictionHeadTransform(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.act = ACTIVATIONS[config.hidden_act]
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x):
        x = self.dense(x)
        x = self.act(x)
        return self.LayerNorm(x)


class BertLMPredictionHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder.bias = self.bias

    def forward(self, x):
        x = self.transform(x)
        return self.decoder(x)


class BertOnlyMLMHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.predictions = BertLMPredictionHead(config)

    def forward(self, x):
        return self.predictions(x)


class BertForMaskedLM(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.cls = BertOnlyMLMHead(config)
        if config.tie_word_embeddings:
            self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.weight

    def get_input_embeddings(self):
        return self.bert.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.bert(input_ids, **others)
        logits = self.cls(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, self.config.vocab_size)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class BertForSequenceClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def get_input_embeddings(self):
        return self.bert.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.bert(input_ids, **others)
        pooled = outputs.pooler_output
        pooled = self.dropout(pooled)
        logits = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class BertForTokenClassification(TokenClassifier):
    name = "bert"
    encoder_class = BertModel


class BertForQuestionAnswering(QuestionAnswerer):
    name = "bert"
    encoder_class = BertModel


class BertForMultipleChoice(MultipleChooser):
    name = "bert"
    encoder_class = BertModel


def build(config):
    """The model with its sequence classifier: what ``AutoModelForSequenceClassification`` gives."""
    return BertForSequenceClassification(config)
