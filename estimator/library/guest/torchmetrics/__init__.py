"""``torchmetrics``: what a metric keeps is a few counts; what it is given it lets go of. Mirrors torchmetrics 1.8 (``metric.py``)."""

import torch
from torch import nn


class Metric(nn.Module):
    def __init__(self, *args, **options):
        super().__init__()
        self._computed = None

    def add_state(self, name, default, dist_reduce_fx=None, persistent=False):
        setattr(self, name, default)

    def forward(self, *args, **options):
        self.update(*args, **options)
        return self.compute()

    def update(self, *args, **options):
        pass

    def compute(self):
        return torch.zeros(())

    def reset(self):
        pass

    def clone(self, prefix=None, postfix=None):
        return self


class MetricCollection(Metric):
    """Metrics by their names."""

    def __init__(self, metrics, *additional, prefix=None, postfix=None, **options):
        super().__init__()
        given = metrics if isinstance(metrics, (dict, list, tuple)) else [metrics]
        self.names = list(given) if isinstance(given, dict) else [type(each).__name__ for each in [*given, *additional]]
        self.prefix = prefix or ""

    def compute(self):
        return {self.prefix + name: torch.zeros(()) for name in self.names}

    def items(self):
        return [(name, Metric()) for name in self.names]

    def __getitem__(self, name):
        return Metric()


NAMES = """
Accuracy AUROC AveragePrecision CalibrationError CohenKappa ConfusionMatrix F1Score FBetaScore HammingDistance JaccardIndex MatthewsCorrCoef Precision Recall
Specificity StatScores MeanMetric SumMetric MaxMetric MinMetric CatMetric MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError R2Score
PearsonCorrCoef SpearmanCorrCoef ExplainedVariance CosineSimilarity PeakSignalNoiseRatio StructuralSimilarityIndexMeasure Dice
BinaryAccuracy MulticlassAccuracy MultilabelAccuracy BinaryF1Score MulticlassF1Score MultilabelF1Score BinaryAUROC MulticlassAUROC MultilabelAUROC
BinaryPrecision MulticlassPrecision BinaryRecall MulticlassRecall BinaryJaccardIndex MulticlassJaccardIndex MulticlassConfusionMatrix
Perplexity WordErrorRate CharErrorRate BLEUScore SacreBLEUScore
""".split()
globals().update({name: type(name, (Metric,), {}) for name in NAMES})
