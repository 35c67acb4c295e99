"""Batch and instance normalisation, with running statistics as buffers."""

import torch
import torch.nn.functional as F
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class _NormBase(Module):
    """Weight, bias and running statistics, each of the number of channels."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = Parameter(torch.empty(num_features, device=device, dtype=dtype))
            self.bias = Parameter(torch.empty(num_features, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", torch.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", torch.ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.long, device=device))
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)

    def reset_running_stats(self):
        """Written in place."""

    def reset_parameters(self):
        """Written in place."""


class _BatchNorm(_NormBase):
    """Over the batch."""

    def forward(self, input):
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        training = self.training or (self.running_mean is None and self.running_var is None)
        return F.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, training, self.momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Of vectors or sequences."""


class BatchNorm2d(_BatchNorm):
    """Of images."""


class BatchNorm3d(_BatchNorm):
    """Of volumes."""


class SyncBatchNorm(_BatchNorm):
    """Over the batches of all ranks."""

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        return module


class _InstanceNorm(_NormBase):
    """Over each sample."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias)


class InstanceNorm1d(_InstanceNorm):
    """Of sequences."""


class InstanceNorm2d(_InstanceNorm):
    """Of images."""


class InstanceNorm3d(_InstanceNorm):
    """Of volumes."""
