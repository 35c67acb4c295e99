"""What a step on fake CUDA tensors allocates: every storage's birth and death, as PyTorch's allocator would see them."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from estimator.kernels import efficient_backward_scratch, flash_backward_scratch, workspace_bytes
from estimator.tape.events import rounded

_PRODUCTS = {torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.bmm, torch.ops.aten.baddbmm}
_READ = torch.ops.aten._local_scalar_dense  # noqa: SLF001  a number is asked of a tensor that has none


class Tracker(TorchDispatchMode):  # type: ignore[misc]
    """Counts CUDA storages while it is on. ``log`` holds (key, size) of allocations and (key, 0) of what is freed, ``peak`` the most bytes at once."""

    def __init__(self, generation: int) -> None:
        super().__init__()
        self.generation = generation
        self.allocated = 0
        self.peak = 0
        self.log: list[tuple[int, int]] = []
        self._sizes: dict[int, int] = {}
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._keys = 0
        #: Whether a region was checkpointed: what it kept is then made anew in backward.
        self.checkpoints = False
        #: Bytes of the workspaces that were taken, and by which pass.
        self.workspaces = 0
        self._workspaces: set[bool] = set()

    def allocate(self, size: int) -> int:
        """Count ``size`` bytes until they are freed by the key that is returned."""
        self._keys += 1
        self._sizes[self._keys] = size
        self.log.append((self._keys, size))
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        return self._keys

    def free(self, key: int) -> None:
        """End what was counted under ``key``."""
        self.allocated -= self._sizes.pop(key)
        self.log.append((key, 0))

    def scratch(self, size: int) -> None:
        """Bytes that a kernel takes while it runs."""
        self.free(self.allocate(size))

    def workspace(self, *, backward: bool) -> None:
        """The matrix library's workspace of a thread, taken at its first product."""
        if backward not in self._workspaces:
            self._workspaces.add(backward)
            self.workspaces += workspace_bytes(self.generation)
            self.allocate(workspace_bytes(self.generation))

    def track(self, tensor: torch.Tensor) -> None:
        """Count the storage of ``tensor`` for as long as it lives."""
        if tensor.device.type != "cuda":
            return
        storage = tensor.untyped_storage()
        known = self._known.get(id(storage))
        if known is not None and known[0]() is storage:
            return
        size = rounded(storage.nbytes())
        if not size:
            return
        key, name = self.allocate(size), id(storage)

        def ended(_: Any) -> None:
            self.free(key)
            if self._known.get(name, (None, None))[1] == key:
                del self._known[name]

        self._known[name] = (weakref.ref(storage, ended), key)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = func.overloadpacket
        if packet is _READ:
            kind = args[0].dtype
            return True if kind == torch.bool else 1.0 if kind.is_floating_point else 1
        if packet in _PRODUCTS:
            self.workspace(backward=False)
        made = func(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, torch.Tensor):
                self.track(each)
        return made


def backward_scratch(name: str, shape: tuple[int, ...], itemsize: int) -> int:
    """Bytes that the backward of an operation takes beside its results; ``shape`` is that of its result."""
    if "FlashAttention" in name and len(shape) == 4:  # noqa: PLR2004  (batch, heads, sequence, width)
        return sum(map(rounded, flash_backward_scratch(*shape)))
    if "EfficientAttention" in name and len(shape) == 4:  # noqa: PLR2004
        return sum(map(rounded, efficient_backward_scratch(*shape, fp32=itemsize == 4)))  # noqa: PLR2004  bytes of a float32
    if name.startswith("SoftmaxBackward"):
        size = itemsize
        for edge in shape:
            size *= edge
        return rounded(size)  # the product of gradient and result
    return 0
