"""The engine: a model in the configuration's type, float32 copies of what trains, steps where a window of accumulation is complete."""

import torch
from preflight_host import not_modelled, noted_argument, noted_sharding, override, world_size
from torch import nn

STAGES = {1: "zero1", 2: "zero2", 3: "zero3"}
AUTO = "auto"


class Settings:
    """What of a configuration decides memory; "auto" is nothing said."""

    def __init__(self, config):
        self.config = {} if config is None else config
        self.stage = self.number(("zero_optimization", "stage"), 0)
        self.micro_batch = self.number(("train_micro_batch_size_per_gpu",), None)
        self.accumulation = self.number(("gradient_accumulation_steps",), 1)
        if self.micro_batch is None:
            whole = self.number(("train_batch_size",), None)
            self.micro_batch = 1 if whole is None else max(1, whole // (world_size() * self.accumulation))
        self.dtype = None
        if self.at(("bf16", "enabled")) is True:
            self.dtype = torch.bfloat16
        elif self.at(("fp16", "enabled")) is True:
            self.dtype = torch.float16
        self.offloads_optimizer = self.offloads("offload_optimizer") or self.at(("zero_optimization", "cpu_offload")) is True
        self.offloads_parameters = self.offloads("offload_param")

    def at(self, keys):
        found = self.config
        for key in keys:
            if not hasattr(found, "get"):
                return None
            found = found.get(key)
        return None if found == AUTO else found

    def number(self, keys, usual):
        found = self.at(keys)
        return found if isinstance(found, (int, float)) else usual

    def offloads(self, name):
        device = self.at(("zero_optimization", name, "device"))
        return device in ("cpu", "nvme")

    def prepare(self, model):
        """The model on the device, in the type of the configuration."""
        model.to("cuda")
        if self.dtype is not None and override("precision") is None:
            model.to(self.dtype)
            noted_argument("precision", "bf16" if self.dtype == torch.bfloat16 else "fp16", self.config, ("bf16", "fp16"))
        if self.stage in STAGES:
            noted_sharding(STAGES[self.stage], offloads_optimizer=self.offloads_optimizer, offloads_parameters=self.offloads_parameters and self.stage == 3)

    def wrapped(self, optimizer):
        return optimizer if self.dtype is None and self.stage == 0 else MixedPrecisionOptimizer(optimizer)


def from_configuration(config):
    return Settings(config)


def optimizer_for(settings, parameters):
    """The optimizer that the configuration names; its own kernels work without temporaries."""
    kind = str(settings.at(("optimizer", "type")) or "AdamW").lower()
    options = settings.at(("optimizer", "params")) or {}
    rate = options.get("lr", 1e-3)
    rate = 1e-3 if rate == AUTO else rate
    if kind in ("adam", "adamw"):
        return torch.optim.AdamW(parameters, lr=rate, fused=True)
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=options.get("momentum", 0.0))
    not_modelled("the optimizer " + kind + " of DeepSpeed")
    return torch.optim.AdamW(parameters, lr=rate, fused=True)


class MixedPrecisionOptimizer:
    """Steps on float32 copies of low-precision parameters, as ZeRO's and the 16-bit optimizers do."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.pairs = []
        for group in optimizer.param_groups:
            masters = []
            for p in group["params"]:
                if p.dtype in (torch.float16, torch.bfloat16):
                    master = p.detach().float()
                    torch._C._became(master, "optimizer_state")
                    master.requires_grad_(True)
                    self.pairs.append((p, master))
                    masters.append(master)
                else:
                    masters.append(p)
            group["params"] = masters

    def __getattr__(self, name):
        return getattr(self.__dict__["optimizer"], name)

    def step(self, closure=None):
        before = torch._C._enter_phase("optimizer_step")
        for p, master in self.pairs:
            if p.grad is not None:
                master.grad = p.grad.to(torch.float32)
                p.grad = None
        self.optimizer.step()
        for p, master in self.pairs:
            master.grad = None
        torch._C._resume_phase(before)

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad()
        for p, master in self.pairs:
            p.grad = None


class DeepSpeedEngine(nn.Module):
    def __init__(self, module, optimizer, settings, scheduler):
        super().__init__()
        self.module = module
        self.optimizer = optimizer
        self.settings = settings
        self.lr_scheduler = scheduler
        self.micro_steps = 0
        self.global_steps = 0
        self.local_rank = self.global_rank = 0
        self.device = torch.device("cuda")

    @property
    def world_size(self):
        return world_size()

    def __getattr__(self, name):
        for group in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(group, {}):
                return self.__dict__[group][name]
        return getattr(self.__dict__["_modules"]["module"], name)

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def backward(self, loss, *args, **options):
        (loss / self.settings.accumulation).backward()

    def is_gradient_accumulation_boundary(self):
        return (self.micro_steps + 1) % min(self.settings.accumulation, 4) == 0

    def step(self, *args, **options):
        if self.is_gradient_accumulation_boundary():
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.lr_scheduler is not None:
                self.lr_scheduler.step()
            self.global_steps += 1
        self.micro_steps += 1

    def zero_grad(self, *args, **options):
        self.optimizer.zero_grad()

    def train_micro_batch_size_per_gpu(self):
        return self.settings.micro_batch

    def gradient_accumulation_steps(self):
        return self.settings.accumulation

    def train_batch_size(self):
        return self.settings.micro_batch * self.settings.accumulation * world_size()

    def zero_optimization_stage(self):
        return self.settings.stage

    def get_lr(self):
        return [1e-3]

    def save_checkpoint(self, *args, **options):
        pass

    load_checkpoint = save_16bit_model = save_checkpoint
