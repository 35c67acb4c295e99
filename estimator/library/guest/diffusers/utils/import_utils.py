"""Questions about the surroundings under their second name."""

from diffusers.utils import (
    is_aiter_available, is_flash_attn_3_available, is_flash_attn_available, is_kernels_available, is_sageattention_available, is_torch_mlu_available,
    is_torch_npu_available, is_torch_version, is_torch_xla_available, is_torch_xla_version,
)  # fmt: skip
