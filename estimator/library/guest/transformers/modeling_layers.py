"""What layers of many models share, for model source that is read from a release of transformers."""

from functools import partial

import torch
from preflight_zoo.losses import classification_loss, last_tokens
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Block
from torch import nn

CACHES = ("cache", "past_key_values", "past_key_value", "layer_past")


class GradientCheckpointingLayer(Block):
    """A layer that is run anew in backward where its model checkpoints; it is then given no cache."""

    def plain(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
            kwargs = {name: None if name in CACHES else value for name, value in kwargs.items()}
            return self.checkpoint_with(partial(self.plain, **kwargs), *args)
        return self.plain(*args, **kwargs)


class GenericForSequenceClassification:
    base_model_prefix = "model"

    def __init__(self, config):
        super().__init__(config)
        from transformers.auto import built_for

        self.num_labels = config.num_labels
        self.model = built_for(config, "base")
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False)
        self.post_init()

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.model(input_ids, **others)
        logits = self.score(outputs.last_hidden_state)
        chosen, found = last_tokens(self.config, logits, input_ids)
        loss = None if labels is None else classification_loss(self.config, chosen, labels)
        return ModelOutput(loss=loss, logits=chosen, cache=outputs.cache)


class GenericForTokenClassification:
    pass


class GenericForQuestionAnswering:
    pass
