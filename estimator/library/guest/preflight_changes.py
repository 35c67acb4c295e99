"""Changes to a model that its author did not write: what a remedy would do."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class _Checkpointed:
    """A block's forward, run again in backward."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        if not torch.is_grad_enabled():
            return self.function(*args, **kwargs)
        return checkpoint(self.function, *args, use_reentrant=False, **kwargs)


def checkpoint_blocks(model):
    """Checkpoint every block of the outermost lists of equal blocks."""
    for child in model._modules.values():
        if child is None:
            continue
        blocks = list(child._modules.values())
        if isinstance(child, (nn.ModuleList, nn.Sequential)) and repeated(blocks):
            for block in blocks:
                block.forward = _Checkpointed(block.forward)
        else:
            checkpoint_blocks(child)


def repeated(blocks):
    """Whether these are several blocks of one class, each made of layers."""
    if len(blocks) < 2:
        return False
    first = type(blocks[0])
    return all(type(block) is first and len(block._modules) > 0 for block in blocks)
