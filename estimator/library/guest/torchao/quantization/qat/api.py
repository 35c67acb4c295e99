"""Settings of fake quantization. Mirrors torchao 0.12 (``quantization/qat/api.py``)."""

import torch


class FakeQuantizeConfig:
    def __init__(self, dtype=None, granularity=None, group_size=None, is_symmetric=None, is_dynamic=True, scale_precision=torch.float32, **options):
        self.dtype = dtype
        self.granularity = granularity
        self.group_size = group_size if group_size is not None else getattr(granularity, "group_size", None)
        self.is_symmetric = is_symmetric
        self.is_dynamic = is_dynamic
        self.scale_precision = scale_precision


IntxFakeQuantizeConfig = FakeQuantizeConfig
