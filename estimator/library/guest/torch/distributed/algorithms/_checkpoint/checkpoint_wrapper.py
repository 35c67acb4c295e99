"""Activation checkpointing around modules. Mirrors torch 2.14 (``distributed/algorithms/_checkpoint/checkpoint_wrapper.py``)."""

from torch.utils.checkpoint import checkpoint


class CheckpointImpl:
    REENTRANT = "reentrant"
    NO_REENTRANT = "no_reentrant"


class _Rerun:
    """A forward that is run anew in backward."""

    def __init__(self, function, reentrant):
        self.function = function
        self.reentrant = reentrant

    def __call__(self, *args, **kwargs):
        return checkpoint(self.function, *args, use_reentrant=self.reentrant, **kwargs)


def checkpoint_wrapper(module, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **options):
    module.forward = _Rerun(module.forward, checkpoint_impl == CheckpointImpl.REENTRANT)
    return module


def apply_activation_checkpointing(model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=None, auto_wrap_policy=None):
    for module in list(model.modules()):
        if chosen(module, check_fn, auto_wrap_policy):
            checkpoint_wrapper_fn(module)


def chosen(module, check_fn, policy):
    """Whether a module is one of those that are to be run anew."""
    if policy is not None:
        return policy(module=module, recurse=False, nonwrapped_numel=0)
    return check_fn is not None and check_fn(module)


def offload_wrapper(module):
    return module
