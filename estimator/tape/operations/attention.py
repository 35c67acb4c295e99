"""Scaled dot-product attention with the kernel that PyTorch would pick (``kernels``), and what each keeps."""

from __future__ import annotations

from collections.abc import Sequence

from estimator.kernels import Attention, attention_kernel, efficient_backward_scratch, flash_backward_scratch
from estimator.tape.agreement import must_agree
from estimator.tape.copying import cast, same_layout
from estimator.tape.dtype import BOOL, FLOAT32, HALVES
from estimator.tape.graph import Node, record, tracked
from estimator.tape.operations.dropout import dropout
from estimator.tape.operations.indexing import getitem
from estimator.tape.operations.matmul import matmul
from estimator.tape.operations.padding import pad
from estimator.tape.operations.pointwise import add, mul
from estimator.tape.operations.rearranging import rearranged as tril
from estimator.tape.operations.rearranging import repeat_interleave
from estimator.tape.operations.softmax import safe_softmax
from estimator.tape.operations.views import expand, transpose
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.shape import elementwise_strides
from estimator.tape.tensor import Tensor, new

_BATCHED = 4  # dimensions of (batch, heads, sequence, width)
_ALIGNMENT = 16  # columns to which the memory-efficient kernel wants its mask padded


@operation("F.scaled_dot_product_attention", "_C._nn.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Attention of (batch, heads, sequence, width) tensors; anything else takes the math path."""
    must_agree(query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2], "scaled_dot_product_attention", query, key, value)
    if query.ndim != _BATCHED or not query.is_cuda:
        return _math(query, key, value, attn_mask, dropout_p, is_causal=is_causal)
    heads = (query.shape[1], key.shape[1] if enable_gqa else query.shape[1])
    tape = current()
    widths = (query.shape[-1], value.shape[-1])
    masked = attn_mask is not None
    kernel = attention_kernel(tape.generation, query.dtype.name, heads, widths, masked=masked, allowed=tape.attention_kernels)
    match kernel:
        case Attention.FLASH:
            return _padded_flash(query, key, value)
        case Attention.EFFICIENT:
            return _efficient(query, key, value, attn_mask)
        case Attention.MATH:
            return _math(query, key, value, attn_mask, dropout_p, is_causal=is_causal)


@operation("_C._allow_attention")
def allow_attention(names: Sequence[str]) -> list[str]:
    """Leave only these kernels to choose from; the ones before."""
    tape = current()
    before, tape.attention_kernels = tape.attention_kernels, frozenset(Attention(name) for name in names)
    return sorted(kernel.value for kernel in before)


def _padded_flash(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Flash attention wants widths in multiples of eight."""
    missing = -query.shape[-1] % 8
    if not missing:
        return _flash(query, key, value)
    result = _flash(*(pad(x, (0, missing)) for x in (query, key, value)))
    return getitem(result, (..., slice(0, query.shape[-1])))


def _flash(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Keeps queries, keys, values, the result and the fp32 log-sum-exp. The result lies as (batch, sequence, heads, width) does in the queries."""
    node = record((query, key, value), _flash_back, (query, key, value))
    batch, heads, length, _ = query.shape
    result = new((*query.shape[:3], value.shape[-1]), query.dtype, query.device, _sequence_first(query))
    sums = new((batch, heads, length), FLOAT32, query.device)
    if node is not None:
        node.keep(sums, result)
    tracked(node, result)
    return result


def _sequence_first(x: Tensor) -> tuple[int, ...]:
    """Strides of a tensor made in the likeness of ``x`` seen as (batch, sequence, heads, width)."""
    shape, strides = ((y[0], y[2], y[1], y[3]) for y in (x.shape, x.strides))
    made = elementwise_strides(shape, [(shape, strides)])
    return (made[0], made[2], made[1], made[3])


def _flash_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    query, key, value, *_ = node.unpack()
    assert query is not None and key is not None and value is not None  # noqa: PT018, S101  kept above
    results = [new(x.shape, x.dtype, x.device, _sequence_first(x)) for x in (query, key, value)]
    batch, heads, length, width = query.shape
    scratch = sum(map(_granules, flash_backward_scratch(batch, heads, length, width)))
    if key.shape[1] != heads:  # gradients of all query heads, before they are summed to the key heads
        scratch += 2 * _granules(batch * heads * key.shape[2] * width * key.itemsize)
    current().scratch(scratch, query.device)
    return results


def _efficient(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Keeps queries, keys, values, the mask, the result and the fp32 log-sum-exp; the result lies as (batch, sequence, heads, width)."""
    bias = None if mask is None else _aligned(_additive(mask, query), query, key)
    node = record((query, key, value, bias), _efficient_back, (query, key, value, bias))
    batch, heads, length, _ = query.shape
    width = value.shape[-1]
    result = new((batch, heads, length, width), query.dtype, query.device, (length * heads * width, width, heads * width, 1))
    if node is not None:
        node.keep(new((batch, heads, -(-length // 32) * 32), FLOAT32, query.device), result)
    tracked(node, result)
    return result


def _efficient_back(node: Node, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    query, key, value, *_ = node.unpack()
    assert query is not None and key is not None and value is not None  # noqa: PT018, S101  kept above
    results: list[Tensor | None] = [
        new(x.shape, x.dtype, x.device, (x.shape[1] * x.shape[2] * x.shape[3], x.shape[3], x.shape[1] * x.shape[3], 1)) for x in (query, key, value)
    ]
    bias = node.edges[3]
    results.append(None if bias is None else new(bias.shape, bias.dtype, query.device))
    batch, heads, length, width = query.shape
    scratch = efficient_backward_scratch(batch, heads, length, width, fp32=query.dtype == FLOAT32)
    current().scratch(sum(map(_granules, scratch)), query.device)
    return results


def _granules(size: int) -> int:
    return -(-size // 512) * 512


def _additive(mask: Tensor, query: Tensor) -> Tensor:
    """A Boolean mask as numbers to add: zeros, and minus infinity where it is false."""
    return mask if mask.dtype != BOOL else new(mask.shape, query.dtype, query.device, same_layout(mask))


def _aligned(mask: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Columns padded in memory, then expanded over batch and heads as a view."""
    columns = mask.shape[-1]
    if columns % _ALIGNMENT:
        mask = getitem(pad(mask, (0, _ALIGNMENT - columns % _ALIGNMENT)), (..., slice(0, columns)))
    return expand(mask, query.shape[0], query.shape[1], query.shape[2], key.shape[2])


def _math(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, *, is_causal: bool) -> Tensor:
    """Ordinary operations: 16-bit inputs are computed in fp32; queries and keys are scaled by the root of the scale each."""
    dtype = query.dtype
    if dtype in HALVES:
        query, key, value = (cast(x, FLOAT32) for x in (query, key, value))
    query = mul(query, 1.0)
    if is_causal:
        mask = tril(new((query.shape[-2], key.shape[-2]), BOOL, query.device))
    added = None if mask is None else _additive(mask, query)
    del mask
    if query.ndim == _BATCHED and query.shape[1] != key.shape[1]:
        repeats = query.shape[1] // key.shape[1]
        key, value = repeat_interleave(key, repeats, 1), repeat_interleave(value, repeats, 1)
    scores = matmul(query, mul(transpose(key, -2, -1), 1.0))
    del query, key  # the scaled and repeated copies end with the product, unless backward keeps them
    if added is not None:
        add(scores, added, out=scores)
        del added
    weights = safe_softmax(scores)
    del scores
    if dropout_p:
        weights = dropout(weights, dropout_p)
    returned = cast(weights, dtype)  # the weights come back as well, in the inputs' dtype
    result = cast(matmul(weights, value), dtype)
    del returned
    return result
