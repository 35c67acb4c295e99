"""Distributed tensors: one device's view is the whole."""


class _Placement:
    def __init__(self, *args, **options):
        pass


Shard = Replicate = Partial = Placement = _Placement


class DTensor:
    pass


def distribute_tensor(tensor, *args, **options):
    return tensor


def distribute_module(module, *args, **options):
    return module
