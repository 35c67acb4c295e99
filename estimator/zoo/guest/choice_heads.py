"""Heads that choose among answers: every answer a text of its own, one score each. Mirrors transformers 5.24.0 (``models/bert``, ``models/roberta``)."""

from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import PretrainedModel
from torch import nn


def in_one_batch(texts):
    """The answers of all questions below each other."""
    return None if texts is None else texts.view(-1, texts.size(-1))


class MultipleChooser(PretrainedModel):
    """``name`` is the attribute that holds the encoder, whose first token's state is scored."""

    name = "bert"
    encoder_class = None

    def __init__(self, config):
        super().__init__(config)
        setattr(self, self.name, self.encoder_class(config))
        unsaid = getattr(config, "classifier_dropout", None) is None
        self.dropout = nn.Dropout(config.hidden_dropout_prob if unsaid else config.classifier_dropout)
        self.classifier = nn.Linear(config.hidden_size, 1)

    def get_input_embeddings(self):
        return getattr(self, self.name).get_input_embeddings()

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, labels=None, **others):
        choices = input_ids.shape[1]
        given = {"attention_mask": in_one_batch(attention_mask), "token_type_ids": in_one_batch(token_type_ids)}
        outputs = getattr(self, self.name)(in_one_batch(input_ids), **given)
        pooled = outputs.pooler_output
        pooled = self.dropout(pooled)
        scores = self.classifier(pooled)
        logits = scores.view(-1, choices)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits, labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)
