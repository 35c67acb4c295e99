"""Strategies of the trainer. Mirrors Lightning 2.6 (``strategies/``): DDP, FSDP and DeepSpeed by name or as objects."""

import torch
from accelerate.sharding import of_options
from deepspeed.engine import Settings
from preflight_host import document, noted_sharding, world_size
from torch.nn.parallel import buckets


class DDPStrategy:
    def __init__(self, *args, **options):
        pass


class FSDPStrategy:
    def __init__(self, sharding_strategy="FULL_SHARD", cpu_offload=None, auto_wrap_policy=None, mixed_precision=None, **options):
        offloads = cpu_offload is True or getattr(cpu_offload, "offload_params", False)
        self.options = {"fsdp_sharding_strategy": sharding_strategy, "fsdp_offload_params": offloads}


class ModelParallelStrategy(DDPStrategy):
    pass


class DeepSpeedStrategy:
    def __init__(self, zero_optimization=True, stage=2, offload_optimizer=False, offload_parameters=False, config=None, **options):
        self.given = config
        self.config = {
            "zero_optimization": {
                "stage": stage if zero_optimization else 0, "offload_optimizer": {"device": "cpu" if offload_optimizer else None},
                "offload_param": {"device": "cpu" if offload_parameters else None},
            },
        }  # fmt: skip


class _Replicated:
    """One whole copy on every device."""

    dtype = None
    buckets = None

    def prepare(self, model):
        noted_sharding("ddp")
        if world_size() > 1:
            self.buckets = buckets(model)

    def wrapped(self, optimizer):
        return optimizer


def low(precision):
    return torch.bfloat16 if precision.startswith("bf16") else torch.float16 if precision.startswith("16") else None


def sharded(strategy, precision):
    """The settings of a strategy; None for one device."""
    if isinstance(strategy, str):
        if strategy.startswith("ddp"):
            return _Replicated()
        if strategy.startswith("fsdp"):
            return of_options({"fsdp_offload_params": "offload" in strategy}, low(precision))
        if strategy.startswith("deepspeed"):
            words = strategy.split("_")
            stage = [int(word) for word in words if word.isdigit()]
            strategy = DeepSpeedStrategy(stage=stage[0] if stage else 2, offload_optimizer="offload" in words, offload_parameters="offload" in words)
    if isinstance(strategy, DeepSpeedStrategy):
        settings = Settings(document(strategy.given) if strategy.given is not None else strategy.config)
        settings.dtype = low(precision) if settings.dtype is None else settings.dtype
        return settings
    if isinstance(strategy, FSDPStrategy):
        return of_options(strategy.options, low(precision))
    return _Replicated() if isinstance(strategy, DDPStrategy) else None


def devices_of(devices, nodes):
    """How many devices a trainer is told of in all."""
    count = len(devices) if isinstance(devices, (list, tuple)) else devices
    if isinstance(count, str) and count.isdigit():
        count = int(count)
    return count * nodes if isinstance(count, int) and count > 0 and isinstance(nodes, int) else None
