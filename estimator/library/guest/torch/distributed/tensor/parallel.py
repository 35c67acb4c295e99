"""Tensor parallelism: layers are split over devices in ways that a plan says; what is shown is one device with whole layers."""

import torch


class _Style:
    def __init__(self, *args, **options):
        pass


ColwiseParallel = RowwiseParallel = SequenceParallel = PrepareModuleInput = PrepareModuleOutput = PrepareModuleInputOutput = ParallelStyle = _Style


def parallelize_module(module, device_mesh=None, parallelize_plan=None, **options):
    torch._C._assume("layers are split by tensor parallelism, which is not modelled: what is shown is one device with whole layers")
    return module.to("cuda")


def loss_parallel():
    from accelerate import nothing

    return nothing()
