"""One training step of a live model on fake CUDA tensors: what it holds, and when most of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils._pytree import tree_leaves, tree_map

from estimator.allocator import CachingAllocator
from estimator.guard.backward import walk_backward
from estimator.guard.kernels import AttentionChoice, as_if_on_a_gpu
from estimator.guard.tracking import Tracker
from estimator.tape.events import rounded


@dataclass(frozen=True, slots=True)
class Measured:
    """Bytes of a step. ``activations``: what forward leaves for backward, the loss and the outputs included; ``allocated`` and ``reserved``: the peaks."""

    parameters: int
    trainable_parameters: int  # bytes, as all here
    buffers: int
    gradients: int
    optimizer_state: int
    inputs: int
    activations: int
    allocated: int
    reserved: int
    peak_at: str


def measure(model: Any, optimizer: Any, example: Any, *, loss: Callable[[Any], Any] | None, dtype: torch.dtype | None, generation: int) -> Measured:
    """Run one step of ``model`` on ``example``; neither the model nor random number generators nor hooks are changed."""
    tracker = Tracker(generation)
    with ExitStack() as stack:
        stack.enter_context(_unchanged(model))
        stack.enter_context(as_if_on_a_gpu(tracker))
        stack.enter_context(torch.enable_grad())
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        stack.enter_context(mode)
        stack.enter_context(tracker)
        stack.enter_context(AttentionChoice(generation))
        fakes = _fakes_of(model)
        parameters = tracker.allocated
        buffers = sum(rounded(each.numel() * each.element_size()) for each in model.buffers())
        state = _state_bytes(optimizer, tracker)
        held = tracker.allocated
        batch = tree_map(_fake, example)
        inputs = tracker.allocated - held
        with _reparametrize_module(model, fakes, tie_weights=False):
            roots, outputs = _forward(model, batch, loss, dtype)
            activations, forward_peak = tracker.allocated - held - inputs - tracker.workspaces, tracker.peak
            gradients = walk_backward(tracker, roots)
        backward_peak = tracker.peak
        del outputs, batch
        trainable = sum(rounded(each.numel() * each.element_size()) for each in model.parameters() if each.requires_grad)
        held_in_step = parameters + state + trainable + _step_temporaries(optimizer, trainable)
    peaks = {"forward": forward_peak, "backward": backward_peak if backward_peak > forward_peak else 0, "optimizer_step": held_in_step}
    peak_at = max(peaks, key=lambda name: peaks[name])
    allocated = max(peaks.values())
    reserved = max(_reserved(tracker.log), allocated)
    return Measured(parameters - buffers, trainable, buffers, gradients, state, inputs, activations, allocated, reserved, peak_at)


def _fake(value: Any) -> Any:
    return torch.empty(value.shape, dtype=value.dtype, device="cuda") if isinstance(value, torch.Tensor) else value


def _fakes_of(model: Any) -> dict[str, Any]:
    """A fake CUDA tensor for each parameter and buffer, shared where the model shares."""
    made: dict[int, Any] = {}
    fakes = {}
    for name, value in (*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)):
        if id(value) not in made:
            fake = _fake(value)
            made[id(value)] = torch.nn.Parameter(fake, value.requires_grad) if isinstance(value, torch.nn.Parameter) else fake
        fakes[name] = made[id(value)]
    return fakes


def _forward(model: Any, batch: Any, loss: Callable[[Any], Any] | None, dtype: torch.dtype | None) -> tuple[list[Any], list[Any]]:
    """The loss's node, alone in a list so that nobody else holds it, and the outputs, which stay alive until backward has run."""
    args, kwargs = ((), dict(batch)) if isinstance(batch, Mapping) else (tuple(batch) if isinstance(batch, (tuple, list)) else (batch,), {})
    with torch.autocast("cuda", dtype=dtype, enabled=dtype is not None):
        outputs = model(*args, **kwargs)
        value = _loss_of(outputs) if loss is None else loss(outputs)
    tensors = tree_leaves(list(outputs.values()) if isinstance(outputs, Mapping) else outputs)
    return [value.grad_fn], [each.detach() for each in tensors if isinstance(each, torch.Tensor)]


def _loss_of(outputs: Any) -> Any:
    """The loss that a model returns, else a sum of what it returns."""
    found = outputs.get("loss") if isinstance(outputs, Mapping) else getattr(outputs, "loss", None)
    if found is not None:
        return found
    tensors = [each for each in tree_leaves(outputs) if isinstance(each, torch.Tensor) and each.requires_grad]
    if not tensors:
        raise ValueError("The model returns no loss and nothing that requires gradients: give `loss`, a function of what it returns.")
    return tensors[0].float().sum()


def _state_bytes(optimizer: Any, tracker: Tracker) -> int:
    """Bytes of the optimizer's state on the device: what is there, else what a first step on fakes makes."""
    if optimizer is None:
        return 0
    before = tracker.allocated
    if any(optimizer.state.values()):
        sizes = [rounded(x.numel() * x.element_size()) for x in tree_leaves(list(optimizer.state.values())) if isinstance(x, torch.Tensor) and x.numel() > 1]
        for size in sizes:
            tracker.allocate(size)
        return tracker.allocated - before
    groups = [{**group, "params": [_with_gradient(each) for each in group["params"] if each.requires_grad]} for group in optimizer.param_groups]
    own = sum(rounded(each.numel() * each.element_size()) for group in groups for each in group["params"])
    twin = type(optimizer)([group for group in groups if group["params"]], **_signature_of(optimizer))
    twin.step()
    state = sum(rounded(x.numel() * x.element_size()) for x in tree_leaves(list(twin.state.values())) if isinstance(x, torch.Tensor) and x.is_cuda)
    del twin, groups
    tracker.peak = tracker.allocated
    tracker.allocate(state)
    return state if own else 0


def _with_gradient(parameter: Any) -> Any:
    twin = torch.nn.Parameter(_fake(parameter))
    twin.grad = _fake(parameter)
    return twin


def _signature_of(optimizer: Any) -> dict[str, Any]:
    """The options that the optimizer's class takes, as it has them."""
    names = type(optimizer).__init__.__code__.co_varnames
    return {name: value for name, value in optimizer.defaults.items() if name in names}


def _step_temporaries(optimizer: Any, trainable: int) -> int:
    """Multi-tensor optimizers, PyTorch's choice on a GPU, make one list of temporaries as large as what they train."""
    if optimizer is None or optimizer.defaults.get("fused") or optimizer.defaults.get("foreach") is False or "betas" not in optimizer.defaults:
        return 0
    return trainable


def _reserved(log: list[tuple[int, int]]) -> int:
    """What the caching allocator reserves for these allocations."""
    allocator = CachingAllocator()
    for key, size in log:
        if size:
            allocator.allocate(key, size)
        else:
            allocator.free(key)
    return allocator.peak_reserved


@contextmanager
def _unchanged(model: Any) -> Iterator[None]:
    """Random states, the modes and the attributes of every module, as they were."""
    states = [(torch.get_rng_state, torch.set_rng_state)]
    if torch.cuda.is_available():
        states.append((torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all))
    if "random" in sys.modules:
        states.append((sys.modules["random"].getstate, sys.modules["random"].setstate))
    if "numpy.random" in sys.modules:
        states.append((sys.modules["numpy.random"].get_state, sys.modules["numpy.random"].set_state))
    kept = [(put, get()) for get, put in states]
    groups_of = ("_parameters", "_buffers", "_modules")
    attributes = [(each, dict(each.__dict__), {name: dict(each.__dict__[name]) for name in groups_of}) for each in model.modules()]
    try:
        yield
    finally:
        for module, fields, groups in attributes:
            module.__dict__.clear()
            module.__dict__.update(fields)
            for name, entries in groups.items():
                module.__dict__[name].clear()
                module.__dict__[name].update(entries)
        for put, state in kept:
            put(state)
