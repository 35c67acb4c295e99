"""Caches of keys and values, for model source that is read from a release of transformers."""

from preflight_zoo.cache import DynamicCache as _Growing


class Cache:
    pass


class DynamicCache(_Growing, Cache):
    def __init__(self, config=None, **options):
        super().__init__(config)

    def update(self, keys, values, layer, *args, **options):
        return super().update(keys, values, layer)

    def get_mask_sizes(self, queries, layer=0):
        return self.get_seq_length(layer) + queries, 0


class EncoderDecoderCache(Cache):
    def __init__(self, self_attention_cache, cross_attention_cache):
        self.self_attention_cache = self_attention_cache
        self.cross_attention_cache = cross_attention_cache


StaticCache = HybridCache = SlidingWindowCache = QuantizedCache = Cache
