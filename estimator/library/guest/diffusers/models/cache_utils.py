"""What may keep a denoiser's intermediate results between the steps of a generation; while training nothing is kept."""

from contextlib import contextmanager


class CacheMixin:
    is_cache_enabled = False

    @contextmanager
    def cache_context(self, name):
        yield
