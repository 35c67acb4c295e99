"""Fully sharded data parallel, both ways of writing it. Mirrors torch 2.14 (``distributed/fsdp``): how much of it a rank holds is for formulas.

With a low ``param_dtype`` the shards stay in float32: what is gathered and computed with is in 16 bits, what is stepped on twice as large.
"""

import torch
from preflight_host import noted_sharding, noted_unit
from torch import nn
from torch.distributed.tensor.parallel import UNSPLIT


class ShardingStrategy:
    FULL_SHARD = ("fsdp", False)
    SHARD_GRAD_OP = ("fsdp", True)
    NO_SHARD = ("ddp", False)
    HYBRID_SHARD = ("fsdp", False)
    _HYBRID_SHARD_ZERO2 = ("fsdp", True)


class _Options:
    def __init__(self, *args, **options):
        for name, value in options.items():
            setattr(self, name, value)


class BackwardPrefetch:
    BACKWARD_PRE = BACKWARD_POST = "prefetch"


class StateDictType:
    FULL_STATE_DICT = SHARDED_STATE_DICT = LOCAL_STATE_DICT = "state"


FullStateDictConfig = ShardedStateDictConfig = LocalStateDictConfig = FullOptimStateDictConfig = ShardedOptimStateDictConfig = _Options


class MixedPrecision:
    def __init__(self, param_dtype=None, reduce_dtype=None, buffer_dtype=None, **options):
        self.param_dtype = param_dtype


class MixedPrecisionPolicy(MixedPrecision):
    pass


class CPUOffload:
    def __init__(self, offload_params=False):
        self.offload_params = offload_params


class CPUOffloadPolicy:
    offload_params = True

    def __init__(self, pin_memory=True):
        pass


class OffloadPolicy:
    offload_params = False


def lowered(module, mixed_precision):
    """The module in the type that it computes in; how many bytes of its shards stand behind each of its own."""
    dtype = None if mixed_precision is None else mixed_precision.param_dtype
    if dtype is None or dtype == torch.float32:
        return 1
    if [p for p in module.parameters() if p.dtype == torch.float32]:
        module.to(dtype)
        return 2
    return 1


def note_wrapped(module, policy):
    """The parts that a policy wraps, the innermost first, and whether there are any: a policy for classes that are not seen means the model's blocks."""
    found = False
    for child in module.children():
        found = note_wrapped(child, policy) or found
        if policy(module=child, recurse=False, nonwrapped_numel=sum(p.numel() for p in child.parameters())):
            noted_unit(list(child.parameters()))
            found = True
    return found


class _Low:
    """A forward whose inputs are cast to the parameters' type first."""

    def __init__(self, function, dtype):
        self.function = function
        self.dtype = dtype

    def __call__(self, *args, **kwargs):
        args = [self.cast(value) for value in args]
        return self.function(*args, **{name: self.cast(value) for name, value in kwargs.items()})

    @property
    def __func__(self):
        """The function behind it, for those who bind it anew: of its owner it has its own."""
        return lambda owner, *args, **kwargs: self(*args, **kwargs)

    def cast(self, value):
        return value.to(self.dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


class FullyShardedDataParallel(nn.Module):
    def __init__(
        self, module, process_group=None, sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None, backward_prefetch=None, mixed_precision=None,
        ignored_modules=None, param_init_fn=None, device_id=None, sync_module_states=False, forward_prefetch=False, limit_all_gathers=True,
        use_orig_params=False, **options,
    ):  # fmt: skip
        super().__init__()
        module.to("cuda")
        self.module = module
        offloads = cpu_offload is not None and cpu_offload.offload_params
        copies = lowered(module, mixed_precision)
        if copies > 1:
            module.forward = _Low(module.forward, mixed_precision.param_dtype)
        if auto_wrap_policy is None or note_wrapped(module, auto_wrap_policy):
            noted_unit(list(module.parameters()))
        strategy, keeps = ShardingStrategy.FULL_SHARD if sharding_strategy is None else sharding_strategy
        noted_sharding(strategy, copies=copies, keeps=keeps, offloads_parameters=offloads, offloads_optimizer=offloads)

    def __getattr__(self, name):
        for group in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(group, {}):
                return self.__dict__[group][name]
        return getattr(self.__dict__["_modules"]["module"], name)

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        return torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)

    def no_sync(self):
        from accelerate import nothing

        return nothing()

    @staticmethod
    def state_dict_type(*args, **options):
        from accelerate import nothing

        return nothing()

    @staticmethod
    def full_optim_state_dict(*args, **options):
        return {}

    set_state_dict_type = optim_state_dict = sharded_optim_state_dict = shard_full_optim_state_dict = full_optim_state_dict


class FSDPModule(nn.Module):
    pass


def fully_shard(module, *, mesh=None, reshard_after_forward=None, mp_policy=None, offload_policy=None, **options):
    """Shards in place, on the device; called for layers first and for the whole at last."""
    module.to("cuda")
    copies = lowered(module, mp_policy)
    if copies > 1:
        module.forward = _Low(module.forward, mp_policy.param_dtype)
    offloads = offload_policy is not None and getattr(offload_policy, "offload_params", False)
    layout = {"offloads_parameters": offloads, "offloads_optimizer": offloads}
    if mp_policy is not None and mp_policy.param_dtype not in (None, torch.float32):
        layout["copies"] = 2
    if mesh is not None and not UNSPLIT:
        layout["over"] = mesh.shape[-1]
    noted_unit(list(module.parameters()))
    noted_sharding("fsdp", keeps=reshard_after_forward is False, **layout)
    for name in ("set_requires_gradient_sync", "set_reshard_after_forward", "set_modules_to_forward_prefetch", "set_modules_to_backward_prefetch", "unshard"):
        setattr(module, name, ignored)
    return module


def ignored(*args, **options):
    pass
