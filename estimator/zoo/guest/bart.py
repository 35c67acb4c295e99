"""BART. Mirrors transformers 5.24.0 (``models/bart``): parameter names and the operations of a training step, in their order."""

import math

import torch
from preflight_zoo.attention import causal_mask, padding_mask
from preflight_zoo.bart_layers import BartLayer, BartLearnedPositionalEmbedding, BartScaledWordEmbedding
from preflight_zoo.losses import token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from preflight_zoo.seq2seq import EncoderDecoderCache, shifted_right
from torch import nn


class BartConfig(Configuration):
    def __init__(
        self, vocab_size=50265, max_position_embeddings=1024, encoder_layers=12, encoder_ffn_dim=4096, encoder_attention_heads=16,
        decoder_layers=12, decoder_ffn_dim=4096, decoder_attention_heads=16, activation_function="gelu", d_model=1024, dropout=0.1,
        attention_dropout=0.0, activation_dropout=0.0, scale_embedding=False, use_cache=True, pad_token_id=1, decoder_start_token_id=2,
        **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.max_position_embeddings = max_position_embeddings
        self.encoder_layers = self.num_hidden_layers = encoder_layers
        self.encoder_ffn_dim = encoder_ffn_dim
        self.encoder_attention_heads = self.num_attention_heads = encoder_attention_heads
        self.decoder_layers = decoder_layers
        self.decoder_ffn_dim = decoder_ffn_dim
        self.decoder_attention_heads = decoder_attention_heads
        self.activation_function = activation_function
        self.d_model = self.hidden_size = d_model
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation_dropout = activation_dropout
        self.scale_embedding = scale_embedding
        self.use_cache = use_cache
        self.pad_token_id = pad_token_id
        self.decoder_start_token_id = decoder_start_token_id


def word_embedding(config):
    scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
    return BartScaledWordEmbedding(config.vocab_size, config.d_model, config.pad_token_id, scale)


class BartEncoder(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = word_embedding(config)
        self.embed_positions = BartLearnedPositionalEmbedding(config.max_position_embeddings, config.d_model)
        self.layers = nn.ModuleList([BartLayer(config, layer) for layer in range(config.encoder_layers)])
        self.layernorm_embedding = nn.LayerNorm(config.d_model)

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, **others):
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids)
        places = self.embed_positions(inputs_embeds[:, :, -1])
        x = inputs_embeds + places
        x = self.layernorm_embedding(x)
        x = nn.functional.dropout(x, p=self.config.dropout, training=self.training)
        mask = padding_mask(self.config, inputs_embeds, attention_mask)
        for layer in self.layers:
            x = layer(x, mask=mask)
        return ModelOutput(last_hidden_state=x)


class BartDecoder(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = word_embedding(config)
        self.embed_positions = BartLearnedPositionalEmbedding(config.max_position_embeddings, config.d_model)
        self.layers = nn.ModuleList([BartLayer(config, layer, decoder=True) for layer in range(config.decoder_layers)])
        self.layernorm_embedding = nn.LayerNorm(config.d_model)

    def forward(self, input_ids=None, attention_mask=None, encoded=None, encoded_mask=None, cache=None, use_cache=None):
        inputs_embeds = self.embed_tokens(input_ids)
        if cache is None and self.caches(use_cache):
            cache = EncoderDecoderCache()
        seen = cache.get_seq_length() if cache is not None else 0
        position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + seen
        mask = causal_mask(self.config, inputs_embeds, attention_mask, None, cache, seen)
        encoded_mask = padding_mask(self.config, inputs_embeds, encoded_mask)
        places = self.embed_positions(input_ids, seen, position_ids=position_ids)
        x = inputs_embeds + places
        x = self.layernorm_embedding(x)
        x = nn.functional.dropout(x, p=self.config.dropout, training=self.training)
        for layer in self.layers:
            x = layer(x, cache=cache, mask=mask, encoded=encoded, encoded_mask=encoded_mask)
        return ModelOutput(last_hidden_state=x, cache=cache)


class BartModel(PretrainedModel):
    """Encoder and decoder, whose embeddings are one tensor."""

    def __init__(self, config):
        super().__init__(config)
        self.shared = word_embedding(config)
        self.encoder = BartEncoder(config)
        self.decoder = BartDecoder(config)
        self.encoder.embed_tokens.weight = self.decoder.embed_tokens.weight = self.shared.weight

    def get_input_embeddings(self):
        return self.shared

    def forward(
        self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None, encoder_outputs=None,
        past_key_values=None, inputs_embeds=None, use_cache=None, **others,
    ):  # fmt: skip
        if decoder_input_ids is None:
            decoder_input_ids = shifted_right(input_ids, self.config.decoder_start_token_id, self.config.pad_token_id)
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask, inputs_embeds=inputs_embeds)
        outputs = self.decoder(
            decoder_input_ids, decoder_attention_mask, encoder_outputs[0], attention_mask, cache=past_key_values, use_cache=use_cache
        )
        return ModelOutput(
            last_hidden_state=outputs.last_hidden_state, cache=outputs.cache, encoder_last_hidden_state=encoder_outputs.last_hidden_state
        )


class BartForConditionalGeneration(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.model = BartModel(config)
        self.register_buffer("final_logits_bias", torch.zeros((1, config.vocab_size)))
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.lm_head.weight = self.model.shared.weight

    def get_input_embeddings(self):
        return self.model.shared

    def get_encoder(self):
        return self.model.encoder

    def prepare_decoder_input_ids_from_labels(self, labels):
        return shifted_right(labels, self.config.decoder_start_token_id, self.config.pad_token_id)

    def forward(self, input_ids=None, attention_mask=None, decoder_input_ids=None, labels=None, use_cache=None, **others):
        if labels is not None:
            use_cache = False
            if decoder_input_ids is None:
                decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        outputs = self.model(input_ids, attention_mask, decoder_input_ids, use_cache=use_cache, **others)
        logits = self.lm_head(outputs[0])
        logits = logits + self.final_logits_bias
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, self.config.vocab_size)
        return ModelOutput(loss=loss, logits=logits, cache=outputs.cache, encoder_last_hidden_state=outputs.encoder_last_hidden_state)


def build(config):
    """The model with its language-modelling head: what ``AutoModelForSeq2SeqLM`` gives."""
    return BartForConditionalGeneration(config)
