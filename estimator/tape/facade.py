"""What the names of PyTorch stand for: host values and callables, guest source, and second names.

``NAMES`` maps dotted names to host objects; ``guest_modules`` maps modules (of PyTorch and of the optimizers written for it) to the files under ``guest/``
that hold their source, for the interpreter to run like the repository's own; ``REEXPORTS`` maps names to the names they are other spellings of.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from estimator.tape import dtype
from estimator.tape.checkpoint import checkpoint, checkpoint_sequential
from estimator.tape.custom_function import apply_function
from estimator.tape.device import Device
from estimator.tape.operations import FAMILIES
from estimator.tape.operations.conversion import CHANNELS_LAST, CHANNELS_LAST_3D, CONTIGUOUS, PRESERVE
from estimator.tape.registry import FUNCTIONS
from estimator.tape.runtime import RUNTIME
from estimator.tape.shape import Size
from estimator.tape.tensor import Buffer, Parameter, Tensor

assert FAMILIES  # noqa: S101  importing them has filled FUNCTIONS

_TYPES: Mapping[str, object] = {
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.parameter.Buffer": Buffer,
    "torch.Size": Size,
    "torch.device": Device,
    "torch.dtype": dtype.Dtype,
    "torch.finfo": dtype.finfo,
    "torch.iinfo": dtype.iinfo,
    "torch.contiguous_format": CONTIGUOUS,
    "torch.preserve_format": PRESERVE,
    "torch.channels_last": CHANNELS_LAST,
    "torch.channels_last_3d": CHANNELS_LAST_3D,
    "torch.inf": float("inf"),
    "torch.nan": float("nan"),
    "torch.pi": 3.141592653589793,
    "torch.e": 2.718281828459045,
    "torch.newaxis": None,
    "torch._C._apply_function": apply_function,
    "torch.utils.checkpoint.checkpoint": checkpoint,
    "torch.utils.checkpoint.checkpoint_sequential": checkpoint_sequential,
    **{f"torch.{each.name}": each for each in dtype.DTYPES},
    **{f"torch.{name}": each for name, each in dtype.ALIASES.items()},
}
NAMES: Mapping[str, object] = MappingProxyType({**FUNCTIONS, **RUNTIME, **_TYPES})


_GUEST = Path(__file__).parent / "guest"


@cache
def guest_modules() -> Mapping[str, Path]:
    """Dotted module to its file below ``guest/``, from what is there."""
    found = {path.relative_to(_GUEST).with_suffix("").parts: path for path in sorted(_GUEST.rglob("*.py"))}
    return MappingProxyType({".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for parts, path in found.items()})


REEXPORTS: Mapping[str, str] = MappingProxyType(
    {
        "torch.no_grad": "torch.autograd.grad_mode.no_grad",
        "torch.enable_grad": "torch.autograd.grad_mode.enable_grad",
        "torch.set_grad_enabled": "torch.autograd.grad_mode.set_grad_enabled",
        "torch.inference_mode": "torch.autograd.grad_mode.inference_mode",
        "torch.autograd.no_grad": "torch.autograd.grad_mode.no_grad",
        "torch.autograd.Variable": "torch.autograd.variable.Variable",
        "torch.autocast": "torch.amp.autocast_mode.autocast",
        "torch.amp.autocast": "torch.amp.autocast_mode.autocast",
        "torch.cuda.amp.autocast": "torch.amp.autocast_mode.cuda_autocast",
        "torch.cuda.amp.autocast_mode.autocast": "torch.amp.autocast_mode.cuda_autocast",
        "torch.cpu.amp.autocast": "torch.amp.autocast_mode.cpu_autocast",
        "torch.amp.GradScaler": "torch.amp.grad_scaler.GradScaler",
        "torch.GradScaler": "torch.amp.grad_scaler.GradScaler",
        "torch.cuda.amp.GradScaler": "torch.amp.grad_scaler.CudaGradScaler",
        "torch.cuda.amp.grad_scaler.GradScaler": "torch.amp.grad_scaler.CudaGradScaler",
        "torch.autograd.Function": "torch.autograd.function.Function",
        "torch.autograd.enable_grad": "torch.autograd.grad_mode.enable_grad",
        "torch.backends.cuda.sdp_kernel": "torch.nn.attention.sdp_kernel",
        "torch.backends.cuda.enable_flash_sdp": "torch.nn.attention.enable_flash_sdp",
        "torch.backends.cuda.enable_mem_efficient_sdp": "torch.nn.attention.enable_mem_efficient_sdp",
        "torch.backends.cuda.enable_math_sdp": "torch.nn.attention.enable_math_sdp",
        "torch.compile": "torch.compiler.compile",
    }
)


def guest_source(dotted: str) -> str | None:
    """The source of a guest module; None if it is not one."""
    path = guest_modules().get(dotted)
    return None if path is None else path.read_text(encoding="utf-8")
