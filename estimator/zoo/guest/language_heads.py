"""What stands on top of causal decoders: the scores of the next token, or of the whole sequence. Mirrors transformers 5.24.0."""

from preflight_zoo.losses import causal_lm_loss, classification_loss, last_tokens
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import PretrainedModel


class Headed(PretrainedModel):
    """``decoder_name``: the attribute that holds the model below the head."""

    decoder_name = "model"

    def decoded(self, input_ids, **others):
        return getattr(self, self.decoder_name)(input_ids=input_ids, **others)

    def get_input_embeddings(self):
        return getattr(self, self.decoder_name).get_input_embeddings()


class CausalHead(Headed):
    """The next token's scores, out of ``lm_head``."""

    def scored(self, x):
        return self.lm_head(x)

    def forward(self, input_ids=None, labels=None, logits_to_keep=0, num_items_in_batch=None, **others):
        outputs = self.decoded(input_ids, **others)
        x = outputs.last_hidden_state
        if logits_to_keep:
            x = x[:, -logits_to_keep:, :]
        logits = self.scored(x)
        loss = None
        if labels is not None:
            loss = causal_lm_loss(logits, labels, self.config.vocab_size, num_items_in_batch)
        return ModelOutput(loss=loss, logits=logits, cache=outputs.cache, hidden_states=getattr(outputs, "hidden_states", None), attentions=None)


class SequenceHead(Headed):
    """Scores of each sequence's last token that is not padding; every token is scored first, as in the library."""

    def forward(self, input_ids=None, labels=None, **others):
        outputs = self.decoded(input_ids, **others)
        x = outputs.last_hidden_state
        logits = self.score(x)
        chosen, found = last_tokens(self.config, logits, input_ids)
        loss = None
        if labels is not None:
            loss = classification_loss(self.config, chosen, labels)
        return ModelOutput(loss=loss, logits=chosen, cache=outputs.cache, hidden_states=getattr(outputs, "hidden_states", None), attentions=None)
