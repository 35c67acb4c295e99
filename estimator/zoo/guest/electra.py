"""ELECTRA. Mirrors transformers 5.24.0 (``models/electra``): BERT's layers behind embeddings that may be narrower."""

from preflight_zoo.attention import padding_mask
from preflight_zoo.bert import ACTIVATIONS, BertConfig, BertEmbeddings, BertEncoder
from preflight_zoo.losses import classification_loss, token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import PretrainedModel
from torch import nn


class ElectraConfig(BertConfig):
    def __init__(self, embedding_size=128, hidden_size=256, num_attention_heads=4, intermediate_size=1024, **others):
        super().__init__(hidden_size=hidden_size, num_attention_heads=num_attention_heads, intermediate_size=intermediate_size, **others)
        self.embedding_size = embedding_size


class OfEmbeddings:
    """What embeddings read of a configuration, with their own width for the layers'."""

    def __init__(self, config):
        self.__dict__.update(config.__dict__)
        self.hidden_size = config.embedding_size


class ElectraModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = BertEmbeddings(OfEmbeddings(config))
        self.projects = config.embedding_size != config.hidden_size
        if self.projects:
            self.embeddings_project = nn.Linear(config.embedding_size, config.hidden_size)
        self.encoder = BertEncoder(config)

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, inputs_embeds=None, **others):
        embedded = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        if self.projects:
            embedded = self.embeddings_project(embedded)
        mask = padding_mask(self.config, embedded, attention_mask)
        x = self.encoder(embedded, mask)
        return ModelOutput(last_hidden_state=x, hidden_states=None, attentions=None)


class ElectraClassificationHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout)
        self.out_proj = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, x):
        x = x[:, 0, :]
        x = self.dropout(x)
        x = self.dense(x)
        x = nn.functional.gelu(x)
        x = self.dropout(x)
        x = self.out_proj(x)
        return x


class ElectraForSequenceClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.electra = ElectraModel(config)
        self.classifier = ElectraClassificationHead(config)

    def get_input_embeddings(self):
        return self.electra.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.electra(input_ids, **others)
        logits = self.classifier(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class ElectraGeneratorPredictions(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.activation = ACTIVATIONS["gelu"]

    def forward(self, x):
        x = self.dense(x)
        x = self.activation(x)
        x = self.LayerNorm(x)
        return x


class ElectraForMaskedLM(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.electra = ElectraModel(config)
        self.generator_predictions = ElectraGeneratorPredictions(config)
        self.generator_lm_head = nn.Linear(config.embedding_size, config.vocab_size)
        if config.tie_word_embeddings:
            self.generator_lm_head.weight = self.electra.embeddings.word_embeddings.weight

    def get_input_embeddings(self):
        return self.electra.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.electra(input_ids, **others)
        scores = self.generator_predictions(outputs.last_hidden_state)
        scores = self.generator_lm_head(scores)
        loss = None
        if labels is not None:
            loss = token_loss(scores, labels, self.config.vocab_size)
        return ModelOutput(loss=loss, logits=scores, hidden_states=None, attentions=None)


def build(config):
    """The model with its sequence classifier: what ``AutoModelForSequenceClassification`` gives."""
    return ElectraForSequenceClassification(config)
