"""Kernels that may stand in for a layer's own code: they are not taken."""


def _as_it_is(*args, **options):
    return same


def same(value):
    return value


use_kernel_forward_from_hub = use_kernel_func_from_hub = use_kernelized_func = _as_it_is


def use_experts_implementation(experts=None, **options):
    return experts if experts is not None else same


def is_deepspeed_zero3_enabled():
    return False


is_fsdp_managed_module = is_deepspeed_zero3_enabled
