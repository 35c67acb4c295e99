"""``torch.nn.parallel``: one rank's share. Mirrors torch 2.14 (``parallel/distributed.py``, ``csrc/distributed/c10d/reducer.cpp``)."""

import torch
from preflight_host import noted, world_size
from torch import nn


class DataParallel(nn.Module):
    """On one device the wrapper only hands through."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        if world_size() > 1:
            torch._C._assume("DataParallel splits the batch: what is shown is one device with the whole batch")

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


class DistributedDataParallel(nn.Module):
    """Buckets for the gradients of all parameters that train, filled in the order backward reaches them; as large as the gradients together.

    ``gradient_as_bucket_view`` makes the gradients views of the buckets, so that they are there once, and stay when they are set to None.
    """

    def __init__(self, module, device_ids=None, output_device=None, gradient_as_bucket_view=False, **options):
        super().__init__()
        self.module = module
        self.__dict__["_buckets"] = []
        noted("sharding", "ddp")
        if world_size() > 1:
            self.__dict__["_buckets"] = buckets(module)
        if gradient_as_bucket_view and world_size() > 1:
            for p in module.parameters():
                if p.requires_grad:
                    p.register_post_accumulate_grad_hook(view_of(self._buckets))

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def no_sync(self):
        from accelerate import nothing

        return nothing()


def view_of(buckets):
    """A hook that puts a view of a bucket in the place of a gradient: which bucket does not matter, all of them stay."""

    def hook(p):
        bucket = next(each for each in buckets if each.dtype == p.dtype and each.numel() >= p.numel())
        p.grad = bucket[: p.numel()].view(p.shape)

    return hook


#: Bytes of a bucket and of the first one (``bucket_cap_mb=25``, ``dist._DEFAULT_FIRST_BUCKET_BYTES``).
CAPACITY, FIRST = 25 * 1024 * 1024, 1024 * 1024


def buckets(module):
    """One flat tensor a bucket, of each type apart, in reverse order of the parameters."""
    made = []
    limit = FIRST
    filled = 0
    dtype = device = None
    for p in reversed([p for p in module.parameters() if p.requires_grad]):
        if filled and (p.dtype != dtype or filled * p.dtype.itemsize >= limit):
            made.append(torch.empty(filled, dtype=dtype, device=device))
            filled, limit = 0, CAPACITY
        dtype, device = p.dtype, p.device
        filled += p.numel()
    if filled:
        made.append(torch.empty(filled, dtype=dtype, device=device))
    for bucket in made:
        torch._C._became(bucket, "gradients")
    return made
