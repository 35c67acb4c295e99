"""Tensor parallelism: layers split over devices by a plan, as one device sees them. Mirrors torch 2.14 (``distributed/tensor/parallel/style.py``).

What is gathered is as large as the whole, what is reduced and scattered as one part; where a layout is not given it is the style's own.
"""

import torch
from torch import nn
from torch.distributed.tensor import Replicate, Shard


#: Modules whose layers are left whole here.
UNSPLIT = []


class _Around:
    """A forward between what happens to its inputs and what happens to its output."""

    def __init__(self, function, before, after):
        self.function = function
        self.before = before
        self.after = after

    def __call__(self, *args, **kwargs):
        args, kwargs = self.before(args, kwargs)
        return self.after(self.function(*args, **kwargs))


def moved(value, now, wanted, ways):
    """A tensor in another layout: whole, or one device's part of a dimension."""
    if not isinstance(value, torch.Tensor) or now is None or wanted is None:
        return value
    if isinstance(now, Shard) and not isinstance(wanted, Shard):
        return torch.cat([value] * ways, dim=now.dim)
    if isinstance(wanted, Shard) and not isinstance(now, Shard):
        return value.narrow(wanted.dim, 0, value.shape[wanted.dim] // ways).contiguous()
    return value


def part(parameter, dim, ways):
    """One device's part of a parameter."""
    if parameter is None:
        return None
    shape = list(parameter.shape)
    shape[dim] = -(-shape[dim] // ways)
    return nn.Parameter(torch.empty(shape, dtype=parameter.dtype, device=parameter.device), requires_grad=parameter.requires_grad)


class ParallelStyle:
    def apply(self, module, ways):
        module.forward = _Around(module.forward, lambda args, kwargs: self.before(args, kwargs, ways), lambda output: self.after(output, ways))

    def before(self, args, kwargs, ways):
        return args, kwargs

    def after(self, output, ways):
        return output


class _Layer(ParallelStyle):
    """A layer whose weight is split: its first input comes as ``given`` and is needed as ``needed``, its output is made and then wanted so."""

    def before(self, args, kwargs, ways):
        return (moved(args[0], self.given, self.needed, ways), *args[1:]), kwargs

    def after(self, output, ways):
        if isinstance(self.made, Shard) and isinstance(self.wanted, Shard):
            return output if self.made.dim == self.wanted.dim else moved(moved(output, self.made, Replicate(), ways), Replicate(), self.wanted, ways)
        reduced = self.made is None and not isinstance(self.wanted, Shard)
        return output.clone() if reduced else moved(output, self.made or Replicate(), self.wanted, ways)


class ColwiseParallel(_Layer):
    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        self.given, self.needed = input_layouts or Replicate(), Replicate()
        self.made, self.wanted = Shard(-1), output_layouts or Shard(-1)
        self.is_local = use_local_output

    def apply(self, module, ways):
        at = 1 if isinstance(module, nn.Embedding) else 0
        module.weight = part(module.weight, at, ways)
        if getattr(module, "bias", None) is not None:
            module.bias = part(module.bias, 0, ways)
        super().apply(module, ways)


class RowwiseParallel(_Layer):
    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        self.input_layouts = input_layouts
        self.made, self.wanted = None, output_layouts or Replicate()

    def apply(self, module, ways):
        is_table = isinstance(module, nn.Embedding)
        self.given = self.input_layouts or (Replicate() if is_table else Shard(-1))
        self.needed = Replicate() if is_table else Shard(-1)
        module.weight = part(module.weight, 0 if is_table else 1, ways)
        super().apply(module, ways)


class SequenceParallel(ParallelStyle):
    """Parameters are whole, and what comes in is one part of the sequence already."""

    def __init__(self, *, sequence_dim=1, use_local_output=False):
        pass


class PrepareModuleInput(ParallelStyle):
    def __init__(self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None, desired_input_kwarg_layouts=None, use_local_output=False):
        self.layouts, self.desired = listed(input_layouts), listed(desired_input_layouts)
        self.named, self.desired_named = input_kwarg_layouts or {}, desired_input_kwarg_layouts or {}

    def before(self, args, kwargs, ways):
        pairs = list(zip(self.layouts, self.desired))
        args = [moved(value, pairs[i][0], pairs[i][1], ways) if i < len(pairs) else value for i, value in enumerate(args)]
        kwargs = {name: moved(value, self.named.get(name), self.desired_named.get(name), ways) for name, value in kwargs.items()}
        return tuple(args), kwargs


class PrepareModuleOutput(ParallelStyle):
    def __init__(self, *, output_layouts=None, desired_output_layouts=None, use_local_output=True):
        self.layouts, self.desired = listed(output_layouts), listed(desired_output_layouts)

    def after(self, output, ways):
        return moved(output, self.layouts[0], self.desired[0], ways) if isinstance(output, torch.Tensor) else output


class PrepareModuleInputOutput(PrepareModuleInput):
    pass


def listed(layouts):
    return list(layouts) if isinstance(layouts, (tuple, list)) else [layouts]


def parallelize_module(module, device_mesh=None, parallelize_plan=None, **options):
    ways = device_mesh.size() if device_mesh is not None else 1
    styles = list(parallelize_plan.values()) if isinstance(parallelize_plan, dict) else [parallelize_plan]
    if ways > 1 and [style for style in styles if getattr(style, "is_local", True) is False]:
        torch._C._assume("layers are split by tensor parallelism and computed with as distributed tensors: what is shown is one device with whole layers")
        UNSPLIT.append(module)
    elif ways > 1:
        if isinstance(parallelize_plan, dict):
            for path, style in parallelize_plan.items():
                for found in matching(module, path.split(".")):
                    style.apply(found, ways)
        elif parallelize_plan is not None:
            parallelize_plan.apply(module, ways)
    return module.to("cuda")


def matching(module, parts):
    """The modules below one that a path with ``*`` names."""
    if not parts or parts == [""]:
        return [module]
    children = [child for name, child in module.named_children() if parts[0] in (name, "*")]
    return [found for child in children for found in matching(child, parts[1:])]


def loss_parallel():
    from accelerate import nothing

    return nothing()
