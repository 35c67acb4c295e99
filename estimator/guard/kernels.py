"""The choices that PyTorch makes by looking at a GPU, made without one: attention kernels, autocast, checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils.checkpoint
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from estimator.guard.tracking import Tracker
from estimator.kernels import Attention, attention_kernel

_BATCHED = 4  # dimensions of (batch, heads, sequence, width)
_ALIGNMENT = 16  # columns to which the memory-efficient kernel wants its mask padded
_WIDTHS = 8  # flash attention wants widths in multiples of this
aten = torch.ops.aten


class AttentionChoice(TorchFunctionMode):  # type: ignore[misc]
    """``scaled_dot_product_attention`` with the kernel of a GPU of this generation."""

    def __init__(self, generation: int) -> None:
        super().__init__()
        self.generation = generation

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            return self.attend(*args, **kwargs)
        return func(*args, **kwargs)

    def attend(
        self, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,  # noqa: FBT001, FBT002
        enable_gqa: bool = False,  # noqa: FBT001, FBT002  PyTorch's signature
    ) -> Any:  # fmt: skip
        """The signature is PyTorch's."""
        if torch.is_autocast_enabled("cuda"):
            query, key, value, attn_mask = (_cast(x, torch.get_autocast_dtype("cuda")) for x in (query, key, value, attn_mask))
        heads = (query.shape[1], key.shape[1]) if query.dim() == _BATCHED and enable_gqa else (1, 1)
        widths = (query.shape[-1], value.shape[-1])
        kernel = Attention.MATH
        if query.dim() == _BATCHED:
            dtype = str(query.dtype).removeprefix("torch.")
            kernel = attention_kernel(self.generation, dtype, heads, widths, masked=attn_mask is not None)
        match kernel:
            case Attention.FLASH:
                return _flash(query, key, value, dropout_p, is_causal, scale)
            case Attention.EFFICIENT:
                return _efficient(query, key, value, attn_mask, dropout_p, is_causal, scale)
            case Attention.MATH:
                return aten._scaled_dot_product_attention_math(  # noqa: SLF001  the kernels have no public names
                    query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
                )[0]


def _cast(x: Any, dtype: Any) -> Any:
    return x.to(dtype) if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def _flash(query: Any, key: Any, value: Any, dropout: float, causal: bool, scale: float | None) -> Any:  # noqa: FBT001  PyTorch's order
    width = query.shape[-1]
    missing = -width % _WIDTHS
    if missing:
        query, key, value = (functional.pad(x, (0, missing)) for x in (query, key, value))
    scale = scale or width**-0.5
    attended = aten._scaled_dot_product_flash_attention(query, key, value, dropout, causal, False, scale=scale)[0]  # noqa: SLF001, FBT003
    return attended[..., :width] if missing else attended


def _efficient(query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, scale: float | None) -> Any:  # noqa: FBT001
    if mask is not None:
        if mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(mask.logical_not(), float("-inf"))
        columns = mask.shape[-1]
        if columns % _ALIGNMENT:
            mask = functional.pad(mask, (0, _ALIGNMENT - columns % _ALIGNMENT))[..., :columns]
        mask = mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    tracked = torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
    return aten._scaled_dot_product_efficient_attention(query, key, value, mask, tracked, dropout, causal, scale=scale)[0]  # noqa: SLF001


def _gpu_answers(tracker: Tracker) -> list[tuple[Any, str, Any]]:
    """What PyTorch asks a GPU for in the course of a step, and what one of these would say."""
    states = torch.utils.checkpoint

    def device_of_a_checkpoint(*_: Any) -> str:
        tracker.checkpoints = True
        return "cuda"

    return [
        (torch.cuda.amp.common, "amp_definitely_not_available", lambda: False),
        (torch.cuda, "is_bf16_supported", lambda *_, **__: True),
        (states, "get_device_states", lambda *_: ([], [])),
        (states, "set_device_states", lambda *_, **__: None),
        (states, "_infer_device_type", device_of_a_checkpoint),
    ]


@contextmanager
def as_if_on_a_gpu(tracker: Tracker) -> Iterator[None]:
    """Autocast and checkpointing behave as they do where a GPU is; libraries do not take fake tensors for tracing, in which they make other masks."""
    answers = _gpu_answers(tracker)
    for module in list(sys.modules.values()):
        fields = getattr(module, "__dict__", {})
        if str(fields.get("__name__", "")).startswith("transformers") and callable(fields.get("is_tracing")):
            answers.append((module, "is_tracing", lambda *_, **__: False))
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in answers if name in vars(owner)]
    for owner, name, answer in answers:
        setattr(owner, name, answer)
    try:
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
