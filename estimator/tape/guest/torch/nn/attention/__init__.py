"""Which attention kernels may be used."""

import torch


class SDPBackend:
    """Kernels by name."""

    MATH = "math"
    FLASH_ATTENTION = "flash"
    EFFICIENT_ATTENTION = "efficient"
    CUDNN_ATTENTION = "flash"


class sdpa_kernel:
    """Only the given kernels between entry and exit."""

    def __init__(self, backends, set_priority=False):
        self.names = [backends] if isinstance(backends, str) else list(backends)
        self.before = []

    def __enter__(self):
        self.before.append(torch._C._allow_attention(self.names))

    def __exit__(self, *exception):
        torch._C._allow_attention(self.before.pop())


class sdp_kernel(sdpa_kernel):
    """The older spelling: switches instead of a list."""

    def __init__(self, enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
        switches = {"flash": enable_flash, "math": enable_math, "efficient": enable_mem_efficient}
        super().__init__([name for name, on in switches.items() if on])


def _switch(name, enabled):
    allowed = set(torch._C._allow_attention(["math"]))
    torch._C._allow_attention(sorted(allowed | {name} if enabled else allowed - {name}))


def enable_flash_sdp(enabled):
    _switch("flash", enabled)


def enable_mem_efficient_sdp(enabled):
    _switch("efficient", enabled)


def enable_math_sdp(enabled):
    _switch("math", enabled)
