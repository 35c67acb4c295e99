"""``backward``, ``torch.autograd.grad`` and the gradient and precision modes of the thread, for the guest's context managers."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.values import HostValue
from estimator.tape import autocast, engine
from estimator.tape.dtype import FLOAT16, Dtype
from estimator.tape.events import Kind, Phase
from estimator.tape.not_followed import NotFollowed
from estimator.tape.registry import operation
from estimator.tape.run import current
from estimator.tape.tensor import Tensor


@operation(".backward")
def backward(x: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False, **_: Any) -> None:
    """Gradients of everything ``x`` was computed from."""
    if create_graph:
        raise NotFollowed("backward(create_graph=True)")
    engine.backward([x], [gradient], keep_graph=bool(retain_graph))


@operation("autograd.backward")
def backward_all(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, *_: Any, **__: Any) -> None:
    """``backward`` of several tensors at once."""
    outputs = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    gradients = [None] * len(outputs) if grad_tensors is None else [grad_tensors] if isinstance(grad_tensors, Tensor) else list(grad_tensors)
    engine.backward(outputs, gradients, keep_graph=bool(retain_graph))


@operation("autograd.grad")
def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False, **_: Any) -> Any:
    """Gradients with respect to ``inputs``."""
    if create_graph:
        raise NotFollowed("torch.autograd.grad(create_graph=True)")
    sources = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    given = [None] * len(sources) if grad_outputs is None else [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    return engine.gradients_of(sources, wanted, given, keep_graph=bool(retain_graph))


class Handle(HostValue):
    """Takes a hook away again."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks = hooks
        self._hook = hook

    def remove(self) -> None:
        """The hook is not run any more."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


@operation(".register_post_accumulate_grad_hook")
def register_post_accumulate_grad_hook(x: Tensor, hook: Any) -> Handle:
    """``hook`` is run when the gradient of ``x`` is complete: optimizers that step within backward are such."""
    if x.hooks is None:
        x.hooks = []
    x.hooks.append(hook)
    return Handle(x.hooks, hook)


@operation(".register_hook", ".retain_grad")
def ignored_hook(*_: Any) -> None:
    """Hooks on gradients are not run."""
    current().assume("hooks on gradients allocate nothing that lasts")


@operation("is_grad_enabled")
def is_grad_enabled() -> bool:
    """Whether the graph is recorded."""
    return current().grad_enabled


@operation("is_inference_mode_enabled")
def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on."""
    return current().inference


@operation("_C._set_grad_enabled")
def set_grad_enabled(enabled: bool) -> bool:
    """Record the graph, or not; what was set before."""
    tape = current()
    before, tape.grad_enabled = tape.grad_enabled, bool(enabled)
    return before


@operation("is_autocast_enabled")
def is_autocast_enabled(_device: Any = None) -> bool:
    """Whether autocast is on."""
    return current().autocast.enabled


@operation("get_autocast_dtype", "get_autocast_gpu_dtype")
def get_autocast_dtype(_device: Any = None) -> Dtype:
    """The low precision of autocast."""
    return current().autocast.dtype


@operation("_C._enter_autocast")
def enter_autocast(device: str, dtype: Dtype | None, enabled: bool, cache_enabled: bool | None) -> Any:
    """Begin an autocast region; what to hand to ``_exit_autocast``. Regions for other devices change nothing here."""
    state = current().autocast
    on_gpu = device == "cuda"
    return autocast.enter(
        (dtype or FLOAT16) if on_gpu else state.dtype,
        enabled=enabled if on_gpu else state.enabled,
        cache_enabled=state.cache_enabled if cache_enabled is None else cache_enabled,
    )


@operation("_C._exit_autocast")
def exit_autocast(before: Any) -> None:
    """End an autocast region."""
    autocast.leave(before)


@operation("clear_autocast_cache")
def clear_autocast_cache() -> None:
    """Drop the cast weights."""
    current().autocast.casts.clear()


@operation("_C._enter_phase")
def enter_phase(name: str) -> str:
    """Go on in phase ``name``; the one before."""
    tape = current()
    before = tape.phase.value
    tape.enter(Phase(name))
    return before


@operation("_C._resume_phase")
def resume_phase(name: str) -> None:
    """Go on in the phase that was there before."""
    current().resume(Phase(name))


@operation("_C._became")
def became(x: Any, kind: str) -> None:
    """Say what a tensor's memory holds ("buffers", "optimizer_state", "kv_cache")."""
    if isinstance(x, Tensor):
        x.became(Kind(kind))


@operation("set_default_dtype")
def set_default_dtype(dtype: Dtype) -> None:
    """The dtype of new floating-point tensors."""
    current().default_dtype = dtype


@operation("get_default_dtype")
def get_default_dtype() -> Dtype:
    """The dtype of new floating-point tensors."""
    return current().default_dtype
