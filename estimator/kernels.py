"""Which CUDA kernel PyTorch picks, and what memory it takes beside its results: rules by device generation.

Sources: aten/src/ATen/native/transformers/cuda/sdp_utils.cpp (choice of the attention kernel),
aten/src/ATen/cuda/CublasHandlePool.cpp (workspaces), flash_api.cpp and the memory-efficient backward (scratch).
A generation is the compute capability times ten.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

SM75: Final = 75
SM80: Final = 80
SM90: Final = 90

#: 4096 KiB x 2 + 16 KiB x 8, the default CUBLAS_WORKSPACE_CONFIG below Hopper; 32 MiB from there on.
_CUBLAS_WORKSPACE: Final = 2 * 4096 * 1024 + 8 * 16 * 1024
_CUBLAS_WORKSPACE_SM90: Final = 32 * 1024 * 1024
_MAX_FLASH_HEAD: Final = 256


class Attention(Enum):
    """Kernels of ``scaled_dot_product_attention``."""

    FLASH = "flash"
    EFFICIENT = "efficient"
    MATH = "math"


def workspace_bytes(generation: int) -> int:
    """What the first matrix product of a thread allocates."""
    return _CUBLAS_WORKSPACE_SM90 if generation >= SM90 else _CUBLAS_WORKSPACE


#: All of them: what PyTorch may pick from unless a program says otherwise.
EVERY_KERNEL: Final = frozenset(Attention)


def attention_kernel(
    generation: int, dtype: str, heads: tuple[int, int], widths: tuple[int, int], *, masked: bool, allowed: frozenset[Attention] = EVERY_KERNEL
) -> Attention:
    """The kernel for queries of ``dtype``; ``heads`` of queries and keys, ``widths`` of queries and values.

    Flash wants 16 bits, no mask and compute capability 8.0; memory-efficient takes masks and fp32, but not fewer key heads than query heads,
    and bfloat16 only from 8.0 on. Math takes everything; ``allowed`` is what the program leaves to choose from.
    """
    halves = dtype in {"float16", "bfloat16"}
    flash = Attention.FLASH in allowed
    if flash and generation >= SM80 and halves and not masked and widths[0] == widths[1] <= _MAX_FLASH_HEAD:
        return Attention.FLASH
    supported = dtype in {"float16", "float32"} or (dtype == "bfloat16" and generation >= SM80)
    if Attention.EFFICIENT in allowed and supported and heads[0] == heads[1]:
        return Attention.EFFICIENT
    return Attention.MATH


def flash_backward_scratch(batch: int, heads: int, queries: int, width: int) -> tuple[int, int]:
    """Bytes of the fp32 accumulator of the query gradient and of the row sums."""
    rows = -(-queries // 128) * 128
    columns = -(-width // 32) * 32
    return batch * heads * rows * columns * 4, batch * heads * rows * 4


def efficient_backward_scratch(batch: int, heads: int, queries: int, width: int, *, fp32: bool) -> tuple[int, int]:
    """Bytes of the fp32 accumulator (16-bit inputs only) and of the row sums."""
    rows = -(-queries // 64) * 64
    columns = -(-width // 64) * 64
    return 0 if fp32 else batch * heads * rows * columns * 4, batch * heads * queries * 4
