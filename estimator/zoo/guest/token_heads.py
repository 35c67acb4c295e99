"""Heads over every token's state: what a token is, and where an answer begins and ends. Mirrors transformers 5.24.0 (``models/bert``)."""

from preflight_zoo.losses import token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import PretrainedModel
from torch import nn


class OverTokens(PretrainedModel):
    """``name`` is the attribute that holds the encoder."""

    name = "bert"
    encoder_class = None

    def __init__(self, config):
        super().__init__(config)
        setattr(self, self.name, self.encoder_class(config, add_pooling_layer=False))

    def get_input_embeddings(self):
        return getattr(self, self.name).get_input_embeddings()


class TokenClassifier(OverTokens):
    def __init__(self, config):
        super().__init__(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids=None, labels=None, **others):
        outputs = getattr(self, self.name)(input_ids, **others)
        x = self.dropout(outputs.last_hidden_state)
        logits = self.classifier(x)
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, self.config.num_labels)
        return ModelOutput(loss=loss, logits=logits, hidden_states=None, attentions=None)


class QuestionAnswerer(OverTokens):
    def __init__(self, config):
        super().__init__(config)
        self.qa_outputs = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, input_ids=None, start_positions=None, end_positions=None, **others):
        outputs = getattr(self, self.name)(input_ids, **others)
        logits = self.qa_outputs(outputs.last_hidden_state)
        starts, ends = logits.split(1, dim=-1)
        starts = starts.squeeze(-1).contiguous()
        ends = ends.squeeze(-1).contiguous()
        loss = None
        if start_positions is not None and end_positions is not None:
            beyond = starts.size(1)
            start_positions = start_positions.clamp(0, beyond)
            end_positions = end_positions.clamp(0, beyond)
            of_starts = nn.functional.cross_entropy(starts, start_positions, ignore_index=beyond)
            of_ends = nn.functional.cross_entropy(ends, end_positions, ignore_index=beyond)
            loss = (of_starts + of_ends) / 2
        return ModelOutput(loss=loss, start_logits=starts, end_logits=ends, hidden_states=None, attentions=None)
