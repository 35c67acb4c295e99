"""Which attention kernel runs on a device of compute capability 8.0, and what kernels take and give back within one operation."""

from __future__ import annotations

from typing import Any

import torch

_ATEN = torch.ops.aten
_HALVES = (torch.float16, torch.bfloat16)


def _rounded(size: int) -> int:
    return (size + 511) // 512 * 512


def _up(number: int, step: int) -> int:
    return (number + step - 1) // step * step


def scratch_bytes(name: str, args: Any) -> int:
    """Bytes of scratch memory of one operation; 0 for nearly all.

    From PyTorch 2.14's ``flash_api.cpp`` (the gradient of queries in float32), ``attention_backward.cu`` and ``SoftMax.cu`` (``grad * output``).
    """
    if "_scaled_dot_product_flash_attention_backward" in name:
        query, key = args[1], args[2]
        batch, heads, length, size = query.shape
        rows = _up(length, 128)
        expanded = 2 * _rounded(batch * heads * key.shape[2] * size * key.element_size()) if key.shape[1] != heads else 0
        return _rounded(batch * heads * rows * _up(size, 32) * 4) + _rounded(batch * heads * rows * 4) + expanded
    if "_scaled_dot_product_efficient_attention_backward" in name:
        batch, heads, length, size = args[1].shape
        whole = _rounded(batch * heads * _up(length, 64) * _up(size, 64) * 4) if args[1].dtype != torch.float32 else 0
        return _rounded(batch * heads * length * 4) + whole
    if "_softmax_backward_data" in name and "log_softmax" not in name:
        return _rounded(args[0].numel() * max(args[0].element_size(), args[1].element_size()))
    return 0


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None, enable_gqa: bool = False
) -> Any:
    """``scaled_dot_product_attention`` by the kernel that ``sdp_utils.cpp`` would choose; masks are not taken."""
    if attn_mask is not None:
        raise NotImplementedError("these rows have no masks")
    if torch.is_autocast_enabled("cuda"):
        query, key, value = (each.to(torch.get_autocast_dtype("cuda")) for each in (query, key, value))
    grouped = enable_gqa and query.shape[1] != key.shape[1]
    if query.dtype in _HALVES:
        return _ATEN._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, False, scale=scale)[0]
    if not grouped:
        needs = torch.is_grad_enabled() and any(each.requires_grad for each in (query, key, value))
        return _ATEN._scaled_dot_product_efficient_attention(query, key, value, None, needs, dropout_p, is_causal, scale=scale)[0]
    return _ATEN._scaled_dot_product_attention_math(query, key, value, None, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)[0]
