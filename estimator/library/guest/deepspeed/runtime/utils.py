"""What DeepSpeed's runtime offers scripts. Mirrors deepspeed 0.18 (``runtime/utils.py``)."""

import torch


def move_to_device(item, device, criterion_func=None):
    """Tensors in nested containers, on the device."""
    if isinstance(item, torch.Tensor):
        return item.to(device)
    if isinstance(item, (list, tuple)):
        return type(item)([move_to_device(each, device) for each in item])
    if isinstance(item, dict):
        return {name: move_to_device(each, device) for name, each in item.items()}
    return item
