"""Scaled dot-product attention as the library's layers call it, and the masks it takes.

Mirrors transformers 5.24.0 (``sdpa_attention_forward``, the models' ``eager_attention_forward``, ``create_causal_mask``). The library
looks into a padding mask to see whether anything is padded; here no numbers exist, so the configuration's ``padded_batches`` says it.
"""

import torch
from torch import nn


def repeat_heads(states, times):
    """Each key or value head ``times`` over: (batch, heads, length, size) to (batch, heads * times, length, size)."""
    if times == 1:
        return states
    batch, heads, length, size = states.shape
    return states[:, :, None, :, :].expand(batch, heads, times, length, size).reshape(batch, heads * times, length, size)


def with_bias(bias, mask, causal, key, queries):
    """A bias for every pair of places, joined with the mask: what the fused kernels add to the scores."""
    lowest = torch.finfo(key.dtype).min
    if mask is None:
        if causal:
            rows = torch.arange(queries, device=key.device)[:, None]
            columns = torch.arange(key.shape[2], device=key.device)[None, :]
            allowed = (rows >= columns).view(1, 1, queries, key.shape[2])
            bias = torch.where(allowed, bias, lowest)
    elif mask.dtype == torch.bool:
        bias = torch.where(mask, bias, lowest)
    else:
        bias = bias + mask
    return bias.contiguous()


def fused(query, key, value, mask, dropout, scaling, groups, causal, bias=None):
    """One kernel; with grouped heads it takes the few heads as they are only where there is no mask."""
    grouped = {}
    if groups > 1:
        if mask is None and key.shape[-1] <= 256:
            grouped["enable_gqa"] = True
        else:
            key = repeat_heads(key, groups)
            value = repeat_heads(value, groups)
    causal = query.shape[2] > 1 and mask is None and causal
    if bias is not None:
        mask, causal = with_bias(bias, mask, causal, key, query.shape[2]), False
    attended = nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, dropout_p=dropout, scale=scaling, is_causal=causal, **grouped
    )
    return attended.transpose(1, 2).contiguous()


def scores(query, key, mask, scaling):
    """Products of queries and keys, scaled, with the mask added."""
    raw = torch.matmul(query, key.transpose(2, 3)) * scaling
    if mask is not None:
        raw = raw + mask
    return raw


def split_heads(projected, size):
    """(batch, length, heads * size) seen as (batch, heads, length, size)."""
    return projected.view(*projected.shape[:-1], -1, size).transpose(1, 2)


def joined_heads(attended):
    """(batch, length, heads, size) as (batch, length, heads * size)."""
    return attended.reshape(*attended.shape[:-2], -1).contiguous()


def look_for_packing(embeds, position_ids):
    """The library counts the places where positions do not follow on each other; packed sequences are not modelled, the look is."""
    if embeds.shape[0] != position_ids.shape[0]:
        position_ids = position_ids.expand(embeds.shape[0], -1)
    before = position_ids[:, :1] - 1
    joined = torch.cat([before, position_ids], dim=-1)
    steps = joined[:, 1:] - joined[:, :-1]
    joined = None
    breaks = (steps != 1).cumsum(-1)
    (breaks[:, -1] == 0).all()


def causal_mask(config, embeds, padding, position_ids, cache, seen):
    """The mask of a decoder: None where the kernel's own causal flag does."""
    if padding is None and cache is None and position_ids is not None:
        look_for_packing(embeds, position_ids)
    padded = padding is not None and config.padded_batches
    if config._attn_implementation != "eager" and not padded and (seen == 0 or embeds.shape[1] == 1):
        return None
    queries = torch.arange(embeds.shape[1], device=embeds.device) + seen
    keys = torch.arange(embeds.shape[1] + seen, device=embeds.device)
    allowed = keys[None, None, None, :] <= queries[None, None, :, None]
    if padded:
        allowed = allowed & padding.to(torch.bool)[:, None, None, :]
    allowed = allowed.expand(embeds.shape[0], -1, -1, -1)
    return additive(allowed, embeds) if config._attn_implementation == "eager" else allowed


def padding_mask(config, embeds, padding):
    """The mask of an encoder, or of a decoder's look at one (``embeds`` are then the decoder's): None where nothing is padded."""
    if padding is None or not config.padded_batches:
        return None
    allowed = padding.to(torch.bool)[:, None, None, :].expand(embeds.shape[0], 1, embeds.shape[1], -1)
    return additive(allowed, embeds) if config._attn_implementation == "eager" else allowed


def additive(allowed, embeds):
    """Zero where attention may look, the lowest number where not."""
    return torch.where(allowed, torch.zeros((), device=embeds.device, dtype=embeds.dtype), torch.finfo(embeds.dtype).min)
