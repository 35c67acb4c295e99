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

    def get_seq_length(self):
        return 0 if self.keys is None else self.keys.shape[-2]

    def grow(self, length):
        """As if ``length`` tokens had been seen."""
        for name in ("keys", "values"):
            seen = getattr(self, name)
            shape = seen.shape[:-2] + (length, seen.shape[-1])
            made = torch.empty(shape, dtype=seen.dtype, device=seen.device)
            torch._C._became(made, "kv_cache")
            setattr(self, name, made)


class WindowLayer(CacheLayer):
    """Of a layer that looks at a window: the last tokens alone, and the window's length as a tensor."""

    def __init__(self, window):
        super().__init__()
        self.window = window
        self.seen = 0
        self.window_tensor = None

    def update(self, keys, values):
        if self.window_tensor is None:
            self.window_tensor = torch.tensor(self.window).to(keys.device)
        self.seen += keys.shape[-2]
        keys, values = super().update(keys, values)
        self.keys = keys[:, :, -self.window + 1 :, :]
        self.values = values[:, :, -self.window + 1 :, :]
        return keys, values

    def get_seq_length(self):
        return self.seen

    def grow(self, length):
        self.seen = length
        super().grow(min(length, self.window - 1))


def windows(config):
    """The window of each layer, None for one that looks at everything."""
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    kinds = getattr(config, "layer_types", None)
    if kinds is None:
        return [window] * config.num_hidden_layers
    return [window if kind == "sliding_attention" else None for kind in kinds]


class DynamicCache:
    def __init__(self, config=None):
        self.layers = []
        if config is not None:
            for window in windows(config):
                self.layers.append(CacheLayer() if window is None else WindowLayer(window))

    def update(self, keys, values, layer):
        while len(self.layers) <= layer:
            self.layers.append(CacheLayer())
        return self.layers[layer].update(keys, values)

    def get_seq_length(self, layer=0):
        return self.layers[layer].get_seq_length() if layer < len(self.layers) else 0

    def grow(self, length):
        for layer in self.layers:
            layer.grow(length)
