"""Learning-rate schedules: memory does not depend on them, but their interface is used."""


class LRScheduler:
    """A schedule over an optimizer's groups."""

    def __init__(self, optimizer, *args, **kwargs):
        self.optimizer = optimizer
        self.last_epoch = 0
        self.base_lrs = [group["lr"] for group in optimizer.param_groups]

    def step(self, *args, **kwargs):
        self.last_epoch += 1

    def get_last_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_lr(self):
        return self.get_last_lr()

    def state_dict(self):
        return {"last_epoch": self.last_epoch}

    def load_state_dict(self, state_dict):
        self.last_epoch = state_dict["last_epoch"]


_LRScheduler = LRScheduler


class LambdaLR(LRScheduler):
    """By a function of the epoch."""


class MultiplicativeLR(LRScheduler):
    """By a factor from a function of the epoch."""


class StepLR(LRScheduler):
    """In steps."""


class MultiStepLR(LRScheduler):
    """At milestones."""


class ConstantLR(LRScheduler):
    """Smaller for a while."""


class LinearLR(LRScheduler):
    """On a line."""


class ExponentialLR(LRScheduler):
    """By a factor each epoch."""


class PolynomialLR(LRScheduler):
    """By a power."""


class CosineAnnealingLR(LRScheduler):
    """On a cosine."""


class CosineAnnealingWarmRestarts(LRScheduler):
    """On a cosine that starts again."""


class CyclicLR(LRScheduler):
    """Up and down."""


class OneCycleLR(LRScheduler):
    """Up once, then down."""


class ReduceLROnPlateau(LRScheduler):
    """When a metric no longer improves."""


class ChainedScheduler(LRScheduler):
    """Several at once."""

    def __init__(self, schedulers, optimizer=None):
        super().__init__(optimizer or schedulers[0].optimizer)


class SequentialLR(LRScheduler):
    """One after another."""
