"""Numbers that ``ignite`` gathers: sums on the host."""

from ignite.handlers import Handler


class Metric(Handler):
    def reset(self):
        pass

    def update(self, output):
        pass

    def compute(self):
        return 0.0


Accuracy = Loss = Precision = Recall = Fbeta = TopKCategoricalAccuracy = RunningAverage = Average = ConfusionMatrix = MeanSquaredError = IoU = mIoU = Metric
