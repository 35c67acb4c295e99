"""Keys and values of the tokens seen so far, a layer at a time.

Mirrors transformers 5.24.0 (``DynamicCache``). A model whose configuration says ``use_cache`` fills one in training too: the
copies that ``cat`` makes, and not the projections themselves, are then what attention keeps for backward.
"""

import torch


class CacheLayer:
    def __init__(self):
        self.keys = None
        self.values = None

    def update(self, keys, values):
        if self.keys is None:
            self.keys = torch.tensor([], dtype=keys.dtype, device=keys.device)
            self.values = torch.tensor([], dtype=values.dtype, device=values.device)
        self.keys = torch.cat([self.keys, keys], dim=-2)
        self.values = torch.cat([self.values, values], dim=-2)
        return self.keys, self.values


    def grow(self, length):
        """As if ``length`` tokens had been seen."""
        for name in ("keys", "values"):
            seen = getattr(self, name)
            shape = seen.shape[:-2] + (length, seen.shape[-1])
            made = torch.empty(shape, dtype=seen.dtype, device=seen.device)
            torch._C._became(made, "kv_cache")
            setattr(self, name, made)


class DynamicCache:
    def __init__(self, config=None):
        self.layers = []
        if config is not None:
            for _ in range(config.num_hidden_layers):
                self.layers.append(CacheLayer())

    def update(self, keys, values, layer):
        while len(self.layers) <= layer:
            self.layers.append(CacheLayer())
        return self.layers[layer].update(keys, values)

    def get_seq_length(self, layer=0):
        if len(self.layers) <= layer or self.layers[layer].keys is None:
            return 0
        return self.layers[layer].keys.shape[-2]

    def grow(self, length):
        for layer in self.layers:
            layer.grow(length)
