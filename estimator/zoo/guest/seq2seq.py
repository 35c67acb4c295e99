"""What encoder-decoder models have in common: decoder inputs made of the labels, and a cache for each kind of attention.

Mirrors transformers 5.24.0 (``shift_tokens_right``, ``EncoderDecoderCache``).
"""

from preflight_zoo.cache import DynamicCache


def shifted_right(tokens, start, pad):
    """The tokens one place later, behind the token that starts a text."""
    moved = tokens.new_zeros(tokens.shape)
    moved[..., 1:] = tokens[..., :-1].clone()
    moved[..., 0] = start
    moved.masked_fill_(moved == -100, pad)
    return moved


class EncoderDecoderCache:
    """Keys and values of the decoder's own tokens, and those of the encoder's states, which are filled once."""

    def __init__(self):
        self.own = DynamicCache()
        self.cross = DynamicCache()
        self.filled = set()

    @property
    def layers(self):
        return self.own.layers

    def get_seq_length(self, layer=0):
        return self.own.get_seq_length(layer)

    def grow(self, length):
        self.own.grow(length)


def keys_and_values(attention, states, cache, layer, crossed):
    """Keys and values of ``states`` by ``attention.projected``; with a cache those that it holds, in its copies."""
    if cache is None:
        return attention.projected(states)
    if crossed and layer in cache.filled:
        kept = cache.cross.layers[layer]
        return kept.keys, kept.values
    key, value = attention.projected(states)
    if crossed:
        cache.filled.add(layer)
        return cache.cross.update(key, value, layer)
    return cache.own.update(key, value, layer)
