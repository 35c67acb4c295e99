"""``timm.loss``. Mirrors timm 1.0.31."""

import torch
from torch import nn


class LabelSmoothingCrossEntropy(nn.Module):
    def __init__(self, smoothing=0.1):
        super().__init__()
        self.smoothing = smoothing

    def forward(self, x, target):
        logs = nn.functional.log_softmax(x, dim=-1)
        chosen = -logs.gather(dim=-1, index=target.unsqueeze(1))
        chosen = chosen.squeeze(1)
        smooth = -logs.mean(dim=-1)
        loss = (1.0 - self.smoothing) * chosen + self.smoothing * smooth
        return loss.mean()


class SoftTargetCrossEntropy(nn.Module):
    def forward(self, x, target):
        loss = torch.sum(-target * nn.functional.log_softmax(x, dim=-1), dim=-1)
        return loss.mean()
