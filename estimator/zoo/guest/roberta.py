"""RoBERTa. Mirrors transformers 5.24.0 (``models/roberta``): BERT's layers, positions counted past the padding, heads of its own."""

import torch
from preflight_zoo.bert import BertConfig, BertEmbeddings, BertModel
from preflight_zoo.choice_heads import MultipleChooser
from preflight_zoo.losses import classification_loss, token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import PretrainedModel
from preflight_zoo.token_heads import QuestionAnswerer, TokenClassifier
from torch import nn


class RobertaConfig(BertConfig):
    def __init__(self, vocab_size=50265, pad_token_id=1, **others):
        super().__init__(vocab_size=vocab_size, pad_token_id=pad_token_id, **others)


class RobertaEmbeddings(BertEmbeddings):
    def __init__(self, config):
        super().__init__(config)
        self.padding_idx = config.pad_token_id
        # Registered last: that is where the library's parameter list has it.
        del self.position_embeddings
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size, padding_idx=self.padding_idx)

    def positions(self, input_ids, embeds):
        if input_ids is None:
            length = embeds.shape[1]
            counted = torch.arange(self.padding_idx + 1, length + self.padding_idx + 1, dtype=torch.long, device=embeds.device)
            return counted.unsqueeze(0).expand(embeds.size()[:-1])
        present = input_ids.ne(self.padding_idx).int()
        counted = (torch.cumsum(present, dim=1).type_as(present) + 0) * present
        return counted.long() + self.padding_idx


class RobertaModel(BertModel):
    embeddings_class = RobertaEmbeddings


class RobertaLMHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.decoder.bias = self.bias

    def forward(self, features):
        x = self.dense(features)
        x = nn.functional.gelu(x)
        x = self.layer_norm(x)
        return self.decoder(x)


class RobertaClassificationHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout)
        self.out_proj = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, features):
        x = features[:, 0, :]
        x = self.dropout(x)
        x = self.dense(x)
        x = torch.tanh(x)
        x = self.dropout(x)
        return self.out_proj(x)


class RobertaForMaskedLM(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.roberta = RobertaModel(config, add_pooling_layer=False)
        self.lm_head = RobertaLMHead(config)
        if config.tie_word_embeddings:
            self.lm_head.decoder.weight = self.roberta.embeddings.word_embeddings.weight

    def get_input_embeddings(self):
        return self.roberta.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.roberta(input_ids, **others)
        logits = self.lm_head(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, self.config.vocab_size)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class RobertaForSequenceClassification(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.roberta = RobertaModel(config, add_pooling_layer=False)
        self.classifier = RobertaClassificationHead(config)

    def get_input_embeddings(self):
        return self.roberta.get_input_embeddings()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.roberta(input_ids, **others)
        logits = self.classifier(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class RobertaForTokenClassification(TokenClassifier):
    name = "roberta"
    encoder_class = RobertaModel


class RobertaForQuestionAnswering(QuestionAnswerer):
    name = "roberta"
    encoder_class = RobertaModel


class RobertaForMultipleChoice(MultipleChooser):
    name = "roberta"
    encoder_class = RobertaModel


def build(config):
    """The model with its sequence classifier: what ``AutoModelForSequenceClassification`` gives."""
    return RobertaForSequenceClassification(config)
