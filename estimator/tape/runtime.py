"""What PyTorch says about the machine and the process, and what it is told: nothing of it takes memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from estimator.tape.attributes import get_attribute, init_module, set_attribute
from estimator.tape.device import CUDA, Device, DeviceLike, as_device
from estimator.tape.events import Kind
from estimator.tape.operations.conversion import to
from estimator.tape.run import current
from estimator.tape.tensor import Tensor
from estimator.tape.traversal import named_members, named_modules


class Switch:
    """A namespace of settings that may be read and written: ``torch.backends.cudnn`` and its kind."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)


class LoadResult(NamedTuple):
    """What ``load_state_dict`` returns."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def _nothing(*_: Any, **__: Any) -> None:
    """A call without an effect on memory."""


def _true(*_: Any, **__: Any) -> bool:
    return True


def _false(*_: Any, **__: Any) -> bool:
    return False


def _identity(*args: Any, **_: Any) -> Any:
    """A decorator that changes nothing, with or without arguments of its own."""
    return args[0] if args and callable(args[0]) else _decorated


def _decorated(function: Any) -> Any:
    return function


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor."""
    return isinstance(value, Tensor)


def set_default_device(device: DeviceLike) -> None:
    """Where new tensors are made."""
    current().default_device = as_device(device)


def capability(*_: Any) -> tuple[int, int]:
    """The compute capability of the device."""
    return divmod(current().generation, 10)


def module_to(x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``Module.to``: only floating-point tensors change their dtype, only those of four or five dimensions their layout."""
    if x.ndim not in {4, 5}:
        kwargs = {name: value for name, value in kwargs.items() if name != "memory_format"}
    if x.dtype.is_floating_point:
        return to(x, *args, **kwargs)
    devices = [arg for arg in args if isinstance(arg, (str, int, Device)) and not isinstance(arg, bool)]
    device = kwargs.get("device", devices[0] if devices else None)
    return x if device is None else to(x, device=device)


def assume(sentence: str) -> None:
    """An assumption to be shown with the estimate."""
    current().assume(sentence)


def optimizer_built(name: str, defaults: dict[str, Any]) -> int:
    """An optimizer of that class was made with these options: its number."""
    return current().optimizer(name, defaults, current().place)


def optimizer_stepped(number: int) -> None:
    """The optimizer of that number takes a step."""
    current().stepped[number] += 1


def call_module(module: Any, *args: Any, **kwargs: Any) -> Any:
    """``Module.__call__``."""
    tape = current()
    tape.enter_module(module, args, kwargs)
    hooked = module._forward_hooks or module._forward_pre_hooks  # noqa: SLF001  the guest's module
    result = (module._call_with_hooks if hooked else module.forward)(*args, **kwargs)  # noqa: SLF001
    tape.leave_module()
    return result


def apply_module(module: Any, function: Any, *_: Any) -> Any:
    """``Module._apply``."""
    fields = module.__dict__
    for child in fields["_modules"].values():
        if child is not None:
            child._apply(function)  # noqa: SLF001
    with current().gradients(enabled=False):
        for parameter in fields["_parameters"].values():
            if parameter is not None:
                parameter.data = function(parameter)
                if parameter.grad is not None:
                    parameter.grad = function(parameter.grad)
    for name, buffer in list(fields["_buffers"].items()):
        if buffer is not None:
            fields["_buffers"][name] = function(buffer).became(Kind.BUFFERS)
    return module


def train_module(module: Any, mode: bool = True) -> Any:  # noqa: FBT001, FBT002  PyTorch's signature
    """``Module.train``."""
    module.__dict__["training"] = mode
    for child in module.__dict__["_modules"].values():
        if child is not None:
            child.train(mode)
    return module


def _cudnn() -> Switch:
    return Switch(benchmark=False, deterministic=False, enabled=True, allow_tf32=True)


RUNTIME: Mapping[str, object] = {
    "torch.is_tensor": is_tensor,
    "torch.set_default_device": set_default_device,
    "torch.manual_seed": _nothing,
    "torch.seed": _nothing,
    "torch.initial_seed": _nothing,
    "torch.set_float32_matmul_precision": _nothing,
    "torch.set_printoptions": _nothing,
    "torch.set_num_threads": _nothing,
    "torch.use_deterministic_algorithms": _nothing,
    "torch.save": _nothing,
    "torch.cuda.is_available": _true,
    "torch.cuda.is_bf16_supported": _true,
    "torch.cuda.is_initialized": _true,
    "torch.cuda.synchronize": _nothing,
    "torch.cuda.empty_cache": _nothing,
    "torch.cuda.set_device": _nothing,
    "torch.cuda.manual_seed": _nothing,
    "torch.cuda.manual_seed_all": _nothing,
    "torch.cuda.reset_peak_memory_stats": _nothing,
    "torch.cuda.device_count": lambda: 1,
    "torch.cuda.current_device": lambda: 0,
    "torch.cuda.get_device_capability": capability,
    "torch.backends.cudnn": _cudnn(),
    "torch.backends.cuda.matmul": Switch(allow_tf32=False, allow_fp16_reduced_precision_reduction=True),
    "torch.backends.mps.is_available": _false,
    "torch.jit.script": _identity,
    "torch.jit.script_method": _identity,
    "torch.jit.script_if_tracing": _identity,
    "torch.jit._overload": _identity,
    "torch.jit._overload_method": _identity,
    "torch._assert": _nothing,
    "torch.jit.ignore": _identity,
    "torch.jit.export": _identity,
    "torch.jit.unused": _identity,
    "torch.jit.is_scripting": _false,
    "torch.jit.is_tracing": _false,
    "torch.fx.wrap": _identity,
    "torch._C._module_to": module_to,
    "torch._C._LoadResult": LoadResult,
    "torch._C._assume": assume,
    "torch._C._CUDA": CUDA,
    "torch._C._optimizer_built": optimizer_built,
    "torch._C._optimizer_stepped": optimizer_stepped,
    "torch._C._set_attribute": set_attribute,
    "torch._C._get_attribute": get_attribute,
    "torch._C._named_modules": named_modules,
    "torch._C._named_members": named_members,
    "torch._C._call_module": call_module,
    "torch._C._train_module": train_module,
    "torch._C._apply_module": apply_module,
    "torch._C._init_module": init_module,
}
