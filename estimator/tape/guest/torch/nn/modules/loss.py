"""Losses as modules."""

import torch.nn.functional as F
from torch.nn.modules.module import Module


class _Loss(Module):
    """A loss with a reduction."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with weights of the classes."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class CrossEntropyLoss(_WeightedLoss):
    """Of logits and classes."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
                               label_smoothing=self.label_smoothing)


class NLLLoss(_WeightedLoss):
    """Of log-probabilities and classes."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)

    def forward(self, input, target):
        return F.nll_loss(input, target, weight=self.weight, reduction=self.reduction)


class CTCLoss(_Loss):
    """Of log-probabilities of every frame and texts."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared differences."""

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Absolute differences."""

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared near zero, absolute beyond."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction)


class HuberLoss(_Loss):
    """Squared near zero, absolute beyond."""

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction)


class BCELoss(_WeightedLoss):
    """Of probabilities."""

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Of logits."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, self.weight, reduction=self.reduction)


class KLDivLoss(_Loss):
    """Of two distributions."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class CosineSimilarity(Module):
    """The cosine of the angle between two."""

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class TripletMarginLoss(_Loss):
    """Distances to a positive and a negative."""

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(anchor, positive, negative, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """Which of two should be larger."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(input1, input2, target, reduction=self.reduction)


class CosineEmbeddingLoss(MarginRankingLoss):
    """Whether two should point the same way."""

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(input1, input2, target, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """Of counts."""

    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)

    def forward(self, log_input, target):
        return F.poisson_nll_loss(log_input, target, reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    """Of numbers with a variance."""

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction=reduction)

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Of logits of labels that do not exclude each other."""

    def forward(self, input, target):
        return F.multilabel_soft_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """Of two classes, plus and minus one."""

    def forward(self, input, target):
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class PairwiseDistance(Module):
    """The length of the difference."""

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm = p
        self.keepdim = keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, keepdim=self.keepdim)
