"""Names of the FlashAttention package; PyTorch's own attention runs in its place."""


class FlashAttentionKwargs:
    pass


def is_flash_attn_available():
    return False


flash_attn_supports_top_left_mask = is_flash_attn_available
