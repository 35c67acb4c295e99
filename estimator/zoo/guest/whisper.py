"""Whisper. Mirrors transformers 5.24.0 (``models/whisper``): parameter names and the operations of a training step, in their order."""

import torch
from preflight_zoo.attention import causal_mask
from preflight_zoo.losses import token_loss
from preflight_zoo.outputs import ModelOutput
from preflight_zoo.pretrained import Configuration, PretrainedModel
from preflight_zoo.seq2seq import EncoderDecoderCache, shifted_right
from preflight_zoo.whisper_layers import WhisperLayer, WhisperPositionalEmbedding
from torch import nn


#: Vocabularies of this size or more have tokens that name languages.
MULTILINGUAL = 51865


class WhisperConfig(Configuration):
    def __init__(
        self, vocab_size=51865, num_mel_bins=80, encoder_layers=4, encoder_attention_heads=6, decoder_layers=4, decoder_attention_heads=6,
        decoder_ffn_dim=1536, encoder_ffn_dim=1536, decoder_start_token_id=50257, use_cache=True, activation_function="gelu", d_model=384,
        dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, max_source_positions=1500, max_target_positions=448, pad_token_id=50256,
        **others,
    ):  # fmt: skip
        super().__init__(**others)
        self.vocab_size = vocab_size
        self.num_mel_bins = num_mel_bins
        self.encoder_layers = self.num_hidden_layers = encoder_layers
        self.encoder_attention_heads = self.num_attention_heads = encoder_attention_heads
        self.decoder_layers = decoder_layers
        self.decoder_attention_heads = decoder_attention_heads
        self.decoder_ffn_dim = decoder_ffn_dim
        self.encoder_ffn_dim = encoder_ffn_dim
        self.decoder_start_token_id = decoder_start_token_id
        self.use_cache = use_cache
        self.activation_function = activation_function
        self.d_model = self.hidden_size = d_model
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation_dropout = activation_dropout
        self.max_source_positions = max_source_positions
        self.max_target_positions = max_target_positions
        self.pad_token_id = pad_token_id


class WhisperEncoder(PretrainedModel):
    """Two convolutions over a spectrogram, and layers over what they give. Its positions are sines and never trained."""

    def __init__(self, config):
        super().__init__(config)
        self.conv1 = nn.Conv1d(config.num_mel_bins, config.d_model, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(config.d_model, config.d_model, kernel_size=3, stride=2, padding=1)
        self.embed_positions = nn.Embedding(config.max_source_positions, config.d_model)
        self.embed_positions.requires_grad_(False)
        self.layers = nn.ModuleList([WhisperLayer(config, layer) for layer in range(config.encoder_layers)])
        self.layer_norm = nn.LayerNorm(config.d_model)

    def forward(self, input_features, attention_mask=None, **others):
        embeds = nn.functional.gelu(self.conv1(input_features))
        embeds = nn.functional.gelu(self.conv2(embeds))
        embeds = embeds.permute(0, 2, 1)
        places = torch.arange(self.embed_positions.num_embeddings, device=embeds.device)
        x = embeds + self.embed_positions(places)
        x = nn.functional.dropout(x, p=self.config.dropout, training=self.training)
        for layer in self.layers:
            x = layer(x, mask=None)
        x = self.layer_norm(x)
        return ModelOutput(last_hidden_state=x)


class WhisperDecoder(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model, config.pad_token_id)
        self.embed_positions = WhisperPositionalEmbedding(config.max_target_positions, config.d_model)
        self.layers = nn.ModuleList([WhisperLayer(config, layer, decoder=True) for layer in range(config.decoder_layers)])
        self.layer_norm = nn.LayerNorm(config.d_model)

    def forward(self, input_ids=None, attention_mask=None, encoded=None, cache=None, use_cache=None):
        inputs_embeds = self.embed_tokens(input_ids)
        if cache is None and self.caches(use_cache):
            cache = EncoderDecoderCache()
        seen = cache.get_seq_length() if cache is not None else 0
        position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + seen
        position_ids = position_ids.unsqueeze(0).repeat(inputs_embeds.shape[0], 1)
        places = self.embed_positions(position_ids)
        x = inputs_embeds + places
        x = nn.functional.dropout(x, p=self.config.dropout, training=self.training)
        mask = causal_mask(self.config, inputs_embeds, attention_mask, position_ids, cache, seen)
        for layer in self.layers:
            x = layer(x, cache=cache, mask=mask, encoded=encoded)
        x = self.layer_norm(x)
        return ModelOutput(last_hidden_state=x, cache=cache)


class WhisperModel(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.encoder = WhisperEncoder(config)
        self.decoder = WhisperDecoder(config)

    def get_input_embeddings(self):
        return self.decoder.embed_tokens

    def freeze_encoder(self):
        self.encoder.requires_grad_(False)

    def forward(
        self, input_features=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None, encoder_outputs=None,
        past_key_values=None, use_cache=None, **others,
    ):  # fmt: skip
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_features, attention_mask)
        outputs = self.decoder(decoder_input_ids, decoder_attention_mask, encoder_outputs[0], cache=past_key_values, use_cache=use_cache)
        return ModelOutput(
            last_hidden_state=outputs.last_hidden_state, cache=outputs.cache, encoder_last_hidden_state=encoder_outputs.last_hidden_state
        )


class WhisperForConditionalGeneration(PretrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.generation_config.is_multilingual = config.vocab_size >= MULTILINGUAL
        self.model = WhisperModel(config)
        self.proj_out = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.proj_out.weight = self.model.decoder.embed_tokens.weight

    def get_input_embeddings(self):
        return self.model.decoder.embed_tokens

    def get_encoder(self):
        return self.model.encoder

    def freeze_encoder(self):
        self.model.freeze_encoder()

    def prepare_decoder_input_ids_from_labels(self, labels):
        return shifted_right(labels, self.config.decoder_start_token_id, self.config.pad_token_id)

    def forward(self, input_features=None, attention_mask=None, decoder_input_ids=None, labels=None, **others):
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        outputs = self.model(input_features, attention_mask, decoder_input_ids, **others)
        logits = self.proj_out(outputs.last_hidden_state)
        loss = None
        if labels is not None:
            loss = token_loss(logits, labels, self.config.vocab_size)
        return ModelOutput(loss=loss, logits=logits, cache=outputs.cache, encoder_last_hidden_state=outputs.encoder_last_hidden_state)


def build(config):
    """The model with its language-modelling head: what ``AutoModelForSpeechSeq2Seq`` gives."""
    return WhisperForConditionalGeneration(config)
