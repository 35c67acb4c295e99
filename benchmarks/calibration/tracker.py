"""Every CUDA storage's birth and death while real PyTorch code runs on fake tensors."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from kernels import scratch_bytes
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

sys.path.insert(0, str(Path(__file__).parents[2]))
from estimator.allocator import CachingAllocator  # the model of the allocator needs no environment of its own

_ATEN = torch.ops.aten
_PRODUCTS = {_ATEN.mm, _ATEN.addmm, _ATEN.bmm, _ATEN.baddbmm}
_RANDOM_IN_PLACE = {_ATEN.uniform_, _ATEN.normal_, _ATEN.random_, _ATEN.exponential_, _ATEN.log_normal_}
#: cuBLAS takes 4096 KiB twice and 16 KiB eight times for each thread below compute capability 9.0 (``CUBLAS_WORKSPACE_CONFIG``).
_WORKSPACE = 4096 * 1024 * 2 + 16 * 1024 * 8


class Tracker(TorchDispatchMode):
    """``memory`` is replayed as the storages come and go; ``phase`` is named and ``steps`` are counted by the caller."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = CachingAllocator()
        self.phase = "init"
        self.steps = 0
        self._seen: dict[int, weakref.ref[Any]] = {}
        self._forget: dict[int, Callable[[], None]] = {}
        self._threads: set[str] = set()
        self._last = 0

    def _take(self, size: int) -> int:
        self._last += 1
        self.memory.allocate(self._last, size)
        return self._last

    def track(self, tensor: torch.Tensor) -> None:
        """Count the storage of a tensor, once, until it dies."""
        local = getattr(tensor, "_local_tensor", tensor)  # of a distributed tensor only this rank's part takes memory
        storage = local.untyped_storage()
        if local.device.type == "cuda":
            self._count(storage)

    def resized(self, storage: torch.UntypedStorage) -> None:
        """Count anew a storage whose memory was given back, or taken again, while it lives on."""
        if (known := self._seen.get(id(storage))) is not None and known() is storage:
            self._forget[id(storage)]()
        if storage.device.type == "cuda":
            self._count(storage)

    def _count(self, storage: torch.UntypedStorage) -> None:
        known = self._seen.get(id(storage))
        if not storage.nbytes() or (known is not None and known() is storage):
            return
        taken, place = self._take(storage.nbytes()), id(storage)

        def forgotten() -> None:
            self.memory.free(taken)
            del self._seen[place]

        def died(reference: weakref.ref[Any]) -> None:
            self.memory.free(taken)
            if self._seen.get(place) is reference:
                del self._seen[place]

        self._seen[place], self._forget[place] = weakref.ref(storage, died), forgotten

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation and count what it makes; numbers that nobody knows are one."""
        packet = func.overloadpacket
        if packet is _ATEN._local_scalar_dense:
            return True if args[0].dtype == torch.bool else 1.0 if args[0].dtype.is_floating_point else 1
        if packet in _PRODUCTS:
            thread = "backward" if self.phase == "backward" else "main"
            if thread not in self._threads:
                self._threads.add(thread)
                self._take(_WORKSPACE)
        if packet in _RANDOM_IN_PLACE:
            return args[0]
        result = func(*args, **(kwargs or {}))
        for each in tree_leaves(result):
            if isinstance(each, torch.Tensor):
                self.track(each)
        scratch = scratch_bytes(func.__name__, args)
        if scratch:
            self.memory.free(self._take(scratch))
        return result
