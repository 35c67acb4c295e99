"""T5 and Flan-T5. Mirrors transformers 5.24.0 (``models/t5``): parameter names and the operations of a training step, in their order."""

import copy

from preflight_zoo.attention import causal_mask, padding_mask
from preflight_zoo.losses import token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from preflight_zoo.seq2seq import EncoderDecoderCache, shifted_right
from preflight_zoo.t5_layers import T5Block, T5LayerNorm
from torch import nn


class T5Config(Configuration):
    def __init__(
        self, vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_decoder_layers=None, num_heads=8,
        relative_attention_num_buckets=32, relative_attention_max_distance=128, dropout_rate=0.1, layer_norm_epsilon=1e-6,
        feed_forward_proj="relu", use_cache=True, pad_token_id=0, decoder_start_token_id=0, classifier_dropout=0.0, is_decoder=False,
        tie_word_embeddings=None, **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.d_model = self.hidden_size = d_model
        self.d_kv = d_kv
        self.d_ff = d_ff
        self.num_layers = self.num_hidden_layers = num_layers
        self.num_decoder_layers = num_layers if num_decoder_layers is None else num_decoder_layers
        self.num_heads = self.num_attention_heads = num_heads
        self.relative_attention_num_buckets = relative_attention_num_buckets
        self.relative_attention_max_distance = relative_attention_max_distance
        self.dropout_rate = dropout_rate
        self.layer_norm_epsilon = layer_norm_epsilon
        self.is_gated_act = feed_forward_proj.startswith("gated-")
        self.dense_act_fn = feed_forward_proj.split("-")[-1]
        self.use_cache = use_cache
        self.pad_token_id = pad_token_id
        self.decoder_start_token_id = decoder_start_token_id
        self.classifier_dropout = classifier_dropout
        self.is_decoder = is_decoder
        self.scale_decoder_outputs = tie_word_embeddings is not False
        self.tie_word_embeddings = True


class T5Stack(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.block = nn.ModuleList([T5Block(config, layer) for layer in range(config.num_layers)])
        self.final_layer_norm = T5LayerNorm(config.d_model, config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, input_ids=None, attention_mask=None, encoded=None, encoded_mask=None, inputs_embeds=None, cache=None, use_cache=None):
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids)
        if not self.config.is_decoder:
            cache = None
            mask = padding_mask(self.config, inputs_embeds, attention_mask)
        else:
            if cache is None and self.caches(use_cache):
                cache = EncoderDecoderCache()
            seen = cache.get_seq_length() if cache is not None else 0
            mask = causal_mask(self.config, inputs_embeds, attention_mask, None, cache, seen)
        encoded_mask = padding_mask(self.config, inputs_embeds, encoded_mask)
        bias = crossed_bias = None
        x = self.dropout(inputs_embeds)
        for block in self.block:
            x, bias, crossed_bias = block(
                x, cache=cache, mask=mask, bias=bias, encoded=encoded, encoded_mask=encoded_mask, crossed_bias=crossed_bias
            )
        x = self.final_layer_norm(x)
        x = self.dropout(x)
        return ModelOutput(last_hidden_state=x, cache=cache)


class T5Model(PretrainedModel):
    """Encoder and decoder, whose embeddings are one tensor."""

    def __init__(self, config):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        of_encoder = copy.deepcopy(config)
        of_encoder.is_decoder = of_encoder.use_cache = False
        self.encoder = T5Stack(of_encoder)
        of_decoder = copy.deepcopy(config)
        of_decoder.is_decoder = True
        of_decoder.num_layers = config.num_decoder_layers
        self.decoder = T5Stack(of_decoder)
        self.encoder.embed_tokens.weight = self.decoder.embed_tokens.weight = self.shared.weight

    def get_input_embeddings(self):
        return self.shared

    def get_encoder(self):
        return self.encoder

    def decoded(self, input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, cache, inputs_embeds, use_cache):
        """The encoder's outputs and the decoder's, which look at them."""
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask, inputs_embeds=inputs_embeds)
        outputs = self.decoder(
            decoder_input_ids, decoder_attention_mask, encoder_outputs[0], attention_mask, cache=cache, use_cache=use_cache
        )
        return encoder_outputs, outputs

    def forward(
        self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None, encoder_outputs=None,
        past_key_values=None, inputs_embeds=None, use_cache=None, **others,
    ):  # fmt: skip
        encoder_outputs, outputs = self.decoded(
            input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, past_key_values, inputs_embeds, use_cache
        )
        return ModelOutput(
            last_hidden_state=outputs.last_hidden_state, cache=outputs.cache, encoder_last_hidden_state=encoder_outputs.last_hidden_state
        )


class T5ForConditionalGeneration(T5Model):
    def __init__(self, config):
        super().__init__(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.lm_head.weight = self.shared.weight

    def prepare_decoder_input_ids_from_labels(self, labels):
        return shifted_right(labels, self.config.decoder_start_token_id, self.config.pad_token_id)

    def forward(
        self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None, encoder_outputs=None,
        past_key_values=None, inputs_embeds=None, labels=None, use_cache=None, **others,
    ):  # fmt: skip
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        encoder_outputs, outputs = self.decoded(
            input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, past_key_values, inputs_embeds, use_cache
        )
        x = outputs[0]
        if self.config.scale_decoder_outputs:
            x = x * (self.config.d_model**-0.5)
        logits = self.lm_head(x)
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, logits.size(-1))
        return ModelOutput(loss=loss, logits=logits, cache=outputs.cache, encoder_last_hidden_state=encoder_outputs.last_hidden_state)


class T5EncoderModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        config.use_cache = False
        self.encoder = T5Stack(config)
        self.encoder.embed_tokens.weight = self.shared.weight

    def get_input_embeddings(self):
        return self.shared

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, **others):
        return self.encoder(input_ids, attention_mask, inputs_embeds=inputs_embeds)


def build(config):
    """The model with its language-modelling head: what ``AutoModelForSeq2SeqLM`` gives."""
    return T5ForConditionalGeneration(config)
