"""Masks, for model source that is read from a release of transformers: none where a kernel's own causal flag does."""

from preflight_zoo.attention import causal_mask, padding_mask


def create_causal_mask(
    config=None, inputs_embeds=None, attention_mask=None, cache=None, position_ids=None, past_key_values=None, input_embeds=None, cache_position=None, **options
):  # fmt: skip
    cache = past_key_values if cache is None else cache
    embeds = input_embeds if inputs_embeds is None else inputs_embeds
    seen = cache.get_seq_length() if cache is not None else 0
    return causal_mask(config, embeds, attention_mask, position_ids, cache, seen)


create_sliding_window_causal_mask = create_chunked_causal_mask = create_causal_mask


def create_bidirectional_mask(config=None, inputs_embeds=None, attention_mask=None, encoder_hidden_states=None, input_embeds=None, **options):
    return padding_mask(config, input_embeds if inputs_embeds is None else inputs_embeds, attention_mask)
