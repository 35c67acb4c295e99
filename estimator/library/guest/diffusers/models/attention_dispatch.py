"""Attention by the kernel that PyTorch chooses. Mirrors diffusers 0.42.1 (``models/attention_dispatch.py``, the native backend)."""

from torch.nn.functional import scaled_dot_product_attention


def dispatch_attention_fn(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, attention_kwargs=None, backend=None, parallel_config=None,
):  # fmt: skip
    query, key, value = (each.permute(0, 2, 1, 3) for each in (query, key, value))
    out = scaled_dot_product_attention(
        query=query, key=key, value=value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
    )
    return out.permute(0, 2, 1, 3)
