"""``accelerate``. Mirrors accelerate 1.15.0: precision around the model's forward, placement of batches, windows of accumulation."""

from contextlib import contextmanager

import torch
from accelerate.sharding import DeepSpeedPlugin, FullyShardedDataParallelPlugin, precision_of_launch, of_launch
from preflight_host import accelerator_built, converted_to_fp32, handed_out, world_size
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


#: Micro-batches of a window: the second one finds gradients, as all later ones do.
WINDOW = 2


@contextmanager
def nothing(*args, **options):
    yield


def set_seed(seed, **options):
    pass


class _Options:
    def __init__(self, *args, **options):
        for name, value in options.items():
            setattr(self, name, value)


ProjectConfiguration = DistributedDataParallelKwargs = InitProcessGroupKwargs = DataLoaderConfiguration = _Options


class GradientAccumulationPlugin:
    def __init__(self, num_steps=1, **options):
        self.num_steps = num_steps


class _Forward:
    """A model's forward under autocast, its results in float32."""

    def __init__(self, function, dtype):
        self.function = function
        self.dtype = dtype

    def __call__(self, *args, **kwargs):
        with torch.autocast("cuda", dtype=self.dtype):
            outputs = handed_out(self.function(*args, **kwargs))
        return converted_to_fp32(outputs)


class _Placed:
    """A loader whose batches are on the device; the next one is fetched before this one is used."""

    def __init__(self, loader, device):
        self.loader = loader
        self.device = device

    def __getattr__(self, name):
        return getattr(self.__dict__["loader"], name)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        source = iter(self.loader)
        current = placed(next(source), self.device)
        for following in source:
            following = placed(following, self.device)
            yield current
            current = following
        yield current


def placed(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, (list, tuple)):
        made = [placed(item, device) for item in value]
        return tuple(made) if isinstance(value, tuple) else made
    if hasattr(value, "to"):
        return value.to(device)
    if hasattr(value, "items"):
        return {name: placed(item, device) for name, item in value.items()}
    return value


class _Optimizer:
    """Steps only where a window of accumulation is complete."""

    def __init__(self, optimizer, accelerator):
        self.optimizer = optimizer
        self.accelerator = accelerator

    def __getattr__(self, name):
        return getattr(self.__dict__["optimizer"], name)

    def step(self, closure=None):
        if self.accelerator.sync_gradients:
            if self.accelerator.scaler is not None:
                self.accelerator.scaler.step(self.optimizer, closure)
                self.accelerator.scaler.update()
            else:
                self.optimizer.step(closure)

    def zero_grad(self, set_to_none=None):
        if self.accelerator.sync_gradients:
            self.optimizer.zero_grad()


class _State:
    process_index = local_process_index = 0
    deepspeed_plugin = fsdp_plugin = None

    @property
    def num_processes(self):
        return world_size()


class Accelerator:
    is_main_process = is_local_main_process = is_last_process = True
    process_index = local_process_index = 0
    distributed_type = "NO"
    use_distributed = False
    deepspeed_plugin = None

    def __init__(
        self, device_placement=True, split_batches=None, mixed_precision=None, gradient_accumulation_steps=1, cpu=False, gradient_accumulation_plugin=None,
        deepspeed_plugin=None, fsdp_plugin=None, **options,
    ):  # fmt: skip
        if gradient_accumulation_plugin is not None:
            gradient_accumulation_steps = gradient_accumulation_plugin.num_steps
        if mixed_precision is None:
            mixed_precision = precision_of_launch()
        self.mixed_precision = accelerator_built(mixed_precision, gradient_accumulation_steps)
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.device = torch.device("cpu" if cpu else "cuda")
        self.dtype = torch.bfloat16 if self.mixed_precision == "bf16" else torch.float16 if self.mixed_precision == "fp16" else None
        plugin = fsdp_plugin if deepspeed_plugin is None else deepspeed_plugin
        self.sharded = of_launch(self.dtype) if plugin is None else plugin.settings(self.dtype)
        if self.sharded is not None and self.sharded.dtype is not None:
            self.dtype = None
        self.scaler = torch.amp.GradScaler("cuda") if self.mixed_precision == "fp16" and self.dtype is not None else None
        self.sync_gradients = True
        self.micro_batches = 0
        self.state = _State()
        self.trackers = []

    @property
    def num_processes(self):
        return world_size()

    @property
    def native_amp(self):
        return self.dtype is not None

    def prepare(self, *values, device_placement=None):
        if self.sharded is not None:
            for value in values:
                if isinstance(value, torch.nn.Module):
                    self.sharded.prepare(value)
        made = tuple(self.prepared(value) for value in values)
        return made[0] if len(made) == 1 else made

    def prepared(self, value):
        if isinstance(value, torch.nn.Module):
            return self.prepare_model(value)
        if isinstance(value, torch.optim.Optimizer):
            return self.prepare_optimizer(value)
        if isinstance(value, DataLoader):
            return self.prepare_data_loader(value)
        return value

    def prepare_model(self, model, **options):
        model.to(self.device)
        if self.dtype is not None:
            model.forward = _Forward(model.forward, self.dtype)
        if self.sharded is None and world_size() > 1:
            model = DistributedDataParallel(model)
        return model

    def prepare_optimizer(self, optimizer, **options):
        return _Optimizer(optimizer if self.sharded is None else self.sharded.wrapped(optimizer), self)

    def prepare_data_loader(self, loader, **options):
        return _Placed(loader, self.device)

    def prepare_scheduler(self, scheduler):
        return scheduler

    @contextmanager
    def accumulate(self, *models):
        self.micro_batches += 1
        self.sync_gradients = self.micro_batches % min(self.gradient_accumulation_steps, WINDOW) == 0
        yield

    def backward(self, loss, **options):
        loss = loss / self.gradient_accumulation_steps
        if self.scaler is not None:
            loss = self.scaler.scale(loss)
        loss.backward(**options)

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        if not self.sync_gradients:
            return None
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)

    def clip_grad_value_(self, parameters, clip_value):
        if self.sync_gradients:
            torch.nn.utils.clip_grad_value_(parameters, clip_value)

    def autocast(self, *args, **options):
        return nothing() if self.dtype is None else torch.autocast("cuda", dtype=self.dtype)

    def unwrap_model(self, model, *args, **options):
        return model.module if isinstance(model, DistributedDataParallel) else model

    def gather(self, value):
        return value

    def gather_for_metrics(self, value, *args, **options):
        return value

    def reduce(self, value, *args, **options):
        return value

    def pad_across_processes(self, value, *args, **options):
        return value

    def skip_first_batches(self, loader, count=0):
        return loader

    def print(self, *args, **options):
        pass

    wait_for_everyone = log = init_trackers = end_training = save_state = load_state = save = save_model = register_for_checkpointing = print
    free_memory = clear = register_save_state_pre_hook = register_load_state_pre_hook = set_trigger = print

    def get_state_dict(self, model):
        return model.state_dict()

    def get_tracker(self, name):
        return None

    def check_trigger(self):
        return False

    no_sync = main_process_first = local_main_process_first = profile = nothing

    def on_main_process(self, function):
        return function

    on_local_main_process = on_last_process = on_main_process


def find_executable_batch_size(function=None, starting_batch_size=128, **options):
    """The first size that is tried; a smaller one is taken only where it does not fit."""

    def around(inner):
        def run(*args, **kwargs):
            return inner(starting_batch_size, *args, **kwargs)

        return run

    return around if function is None else around(function)


def release_memory(*values):
    return [None] * len(values)
