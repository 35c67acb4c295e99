"""``lightning.Fabric``. Mirrors Lightning 2.6 (``fabric/fabric.py``, ``fabric/wrappers.py``, ``fabric/plugins/precision``): modules whose inputs and outputs
change their type on the way, and the pieces of a loop that the script writes itself.
"""

import contextlib

import torch
from lightning.strategies import devices_of, sharded
from preflight_host import lightning_built, noted_devices, world_size
from torch import nn
from torch.utils.data import DataLoader


class _Module:
    """A module on its device: floating-point inputs come in the type that it computes in, outputs leave in float32."""

    def __init__(self, module, fabric):
        self.__dict__["_forward_module"] = self.__dict__["module"] = module
        self.__dict__["_fabric"] = fabric

    def __call__(self, *args, **kwargs):
        return self._fabric.run(self._forward_module, args, kwargs)

    forward = __call__

    def __getattr__(self, name):
        return getattr(self.__dict__["_forward_module"], name)

    def __setattr__(self, name, value):
        setattr(self.__dict__["_forward_module"], name, value)


class _Optimizer:
    def __init__(self, optimizer, fabric):
        self.optimizer = optimizer
        self.fabric = fabric

    def __getattr__(self, name):
        return getattr(self.__dict__["optimizer"], name)

    def step(self, closure=None):
        if self.fabric.scaler is not None:
            self.fabric.scaler.step(self.optimizer)
            self.fabric.scaler.update()
        else:
            self.optimizer.step()


class _Strategy:
    """What scripts ask of a strategy."""

    def __init__(self, precision):
        self.precision = precision


class Fabric:
    global_rank = local_rank = node_rank = 0
    is_global_zero = True

    def __init__(self, *, accelerator="auto", strategy="auto", devices="auto", num_nodes=1, precision=None, plugins=None, callbacks=None, loggers=None):
        self.precision = lightning_built(precision, None)
        noted_devices(devices_of(devices, num_nodes))
        self.device = torch.device("cpu" if accelerator == "cpu" else "cuda")
        self.sharded = sharded(strategy, self.precision)
        self.strategy = strategy if not isinstance(strategy, str) else _Strategy(self.precision)
        self.dtype = torch.bfloat16 if "bf16" in self.precision else torch.float16 if "16" in self.precision else None
        self.pure = self.precision.endswith("-true")
        self.scaler = torch.amp.GradScaler("cuda") if self.precision == "16-mixed" else None
        self.loggers = loggers if isinstance(loggers, list) else [loggers]
        self.logger = self.loggers[0]

    @property
    def world_size(self):
        return world_size()

    def launch(self, function=None, *args, **kwargs):
        return None if function is None else function(self, *args, **kwargs) if args or kwargs else function(self)

    def run(self, module, args, kwargs):
        """A forward in the precision that was asked for."""
        low = self.dtype if self.pure and self.dtype is not None else torch.float32
        args = tuple([as_type(value, low) for value in args])
        kwargs = {name: as_type(value, low) for name, value in kwargs.items()}
        with self.autocast():
            output = module(*args, **kwargs)
        return as_type(output, torch.float32)

    def autocast(self):
        return torch.autocast("cuda", dtype=self.dtype) if self.dtype is not None and not self.pure else contextlib.nullcontext()

    def setup(self, module, *optimizers, **options):
        module = self.setup_module(module)
        made = [self.wrapped(each) for each in optimizers]
        return (module, *made) if made else module

    def setup_module(self, module, move_to_device=True, **options):
        if move_to_device:
            module.to(self.device)
        if self.pure and self.dtype is not None:
            module.to(self.dtype)
        if self.sharded is not None:
            self.sharded.prepare(module)
        return _Module(module, self)

    def wrapped(self, optimizer):
        return _Optimizer(optimizer if self.sharded is None else self.sharded.wrapped(optimizer), self)

    def setup_optimizers(self, *optimizers):
        made = [self.wrapped(each) for each in optimizers]
        return made[0] if len(made) == 1 else tuple(made)

    def setup_dataloaders(self, *loaders, **options):
        made = [_Loader(each, self.device) for each in loaders]
        return made[0] if len(made) == 1 else tuple(made)

    def init_module(self, empty_init=None):
        return _Building(self.dtype if self.pure else None, self.device)

    init_tensor = init_module

    def sharded_model(self):
        return contextlib.nullcontext()

    def no_backward_sync(self, module, enabled=True):
        return contextlib.nullcontext()

    rank_zero_first = sharded_model

    def backward(self, tensor, *args, model=None, **kwargs):
        if self.scaler is not None:
            tensor = self.scaler.scale(tensor)
        tensor.backward(*args, **kwargs)

    def clip_gradients(self, module, optimizer, clip_val=None, max_norm=None, **options):
        if self.scaler is not None:
            self.scaler.unscale_(optimizer.optimizer)
        return torch.nn.utils.clip_grad_norm_(module.parameters(), max_norm) if max_norm is not None else None

    def to_device(self, value):
        return value.to(self.device) if isinstance(value, (torch.Tensor, nn.Module)) else moved(value, self.device)

    def all_reduce(self, data, group=None, reduce_op="mean"):
        return data

    def broadcast(self, value, src=0):
        return value

    def all_gather(self, data, *args, **options):
        return data.unsqueeze(0) if isinstance(data, torch.Tensor) and self.world_size > 1 else data

    def seed_everything(self, seed=None, **options):
        return seed

    def load(self, path, state=None, strict=True):
        return {}

    def print(self, *args, **options):
        pass

    log = log_dict = barrier = save = load_raw = call = print


class _Building:
    """Modules and tensors are made on the device, in the type that is computed in."""

    def __init__(self, dtype, device):
        self.dtype = dtype
        self.device = device

    def __enter__(self):
        self.before = torch.get_default_dtype()
        if self.dtype is not None:
            torch.set_default_dtype(self.dtype)
        self.device.__enter__()

    def __exit__(self, *exception):
        self.device.__exit__(*exception)
        torch.set_default_dtype(self.before)


class _Loader:
    """A loader whose batches are on the device."""

    def __init__(self, loader, device):
        self.loader = loader
        self.device = device

    def __getattr__(self, name):
        return getattr(self.__dict__["loader"], name)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        for batch in self.loader:
            yield moved(batch, self.device)


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (list, tuple)):
        return [moved(item, device) for item in value]
    if isinstance(value, dict):
        return {name: moved(item, device) for name, item in value.items()}
    return value


def as_type(value, dtype):
    """Floating-point tensors in another type."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)([as_type(item, dtype) for item in value])
    if isinstance(value, dict):
        return {name: as_type(item, dtype) for name, item in value.items()}
    return value
