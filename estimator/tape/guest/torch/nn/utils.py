"""Clipping of gradients, and conversions of parameters."""

import torch


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all norms."""
    norms = torch._foreach_norm(list(tensors), norm_type)
    return torch.linalg.vector_norm(torch.stack(norms), norm_type)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale gradients in place."""
    grads = [p.grad for p in parameters if p.grad is not None]
    coefficient = torch.clamp(max_norm / (total_norm + 1e-6), max=1.0)
    torch._foreach_mul_(grads, coefficient)


@torch.no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    total_norm = get_total_norm(grads, norm_type)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


@torch.no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    torch._foreach_clamp_min_([p.grad for p in parameters if p.grad is not None], -clip_value)


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])
