"""What is installed: PyTorch, and nothing beside it."""


def _no(*args, **options):
    return False


is_causal_conv1d_available = is_mamba_ssm_available = is_flash_linear_attention_available = is_torchdynamo_compiling = is_tracing = _no
is_torch_greater_or_equal = is_torch_available = lambda *args, **options: True
is_torch_fx_available = is_torch_less_or_equal = is_flash_attn_2_available = _no
