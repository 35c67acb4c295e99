"""``lightning.fabric.strategies``: the same as the trainer's."""

from lightning.strategies import DDPStrategy, DeepSpeedStrategy, FSDPStrategy, ModelParallelStrategy


class SingleDeviceStrategy:
    def __init__(self, *args, **options):
        pass
