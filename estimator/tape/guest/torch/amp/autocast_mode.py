"""Autocast as a context manager and decorator."""

import torch


class autocast:
    """Operations choose their precision between entry and exit."""

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.device = device_type
        self.fast_dtype = dtype
        self.enabled = enabled
        self.cache_enabled = cache_enabled
        self.before = []

    def __enter__(self):
        self.before.append(torch._C._enter_autocast(self.device, self.fast_dtype, self.enabled, self.cache_enabled))
        return self

    def __exit__(self, *exception):
        torch._C._exit_autocast(self.before.pop())

    def __call__(self, function):
        region = self

        def in_region(*args, **kwargs):
            with region:
                return function(*args, **kwargs)

        return in_region


class cuda_autocast(autocast):
    """``torch.cuda.amp.autocast``."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class cpu_autocast(autocast):
    """``torch.cpu.amp.autocast``."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cpu", dtype, enabled, cache_enabled)
