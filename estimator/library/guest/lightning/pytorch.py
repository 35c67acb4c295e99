"""``lightning.pytorch``. Mirrors Lightning 2.6: precision around the hooks, and gradients that are cleared between forward and backward."""

import torch
from lightning.strategies import devices_of, sharded
from preflight_host import hyperparameters, lightning_built, noted_devices
from torch import nn


def seed_everything(seed=None, workers=False, **options):
    return seed


class Hyperparameters:
    """What ``save_hyperparameters`` kept: attributes and items."""

    def __init__(self, values):
        self.__dict__["_values"] = dict(values)

    def __getattr__(self, name):
        return self.__dict__["_values"][name]

    def __getitem__(self, name):
        return self.__dict__["_values"][name]

    def __contains__(self, name):
        return name in self.__dict__["_values"]

    def __setattr__(self, name, value):
        self.__dict__["_values"][name] = value

    __setitem__ = __setattr__

    def get(self, name, default=None):
        return self.__dict__["_values"].get(name, default)

    def keys(self):
        return self.__dict__["_values"].keys()

    def items(self):
        return self.__dict__["_values"].items()

    def update(self, others):
        self.__dict__["_values"].update(others)


class _Hooks:
    """Hooks that a module or a data module may override."""

    trainer = None
    save_hyperparameters = hyperparameters

    def setup(self, stage=None):
        pass

    prepare_data = teardown = on_fit_start = on_train_start = on_train_epoch_start = on_train_epoch_end = on_train_end = on_fit_end = setup

    def train_dataloader(self):
        return None

    val_dataloader = test_dataloader = predict_dataloader = train_dataloader


class LightningDataModule(_Hooks):
    def __init__(self, *args, **options):
        pass


class LightningModule(_Hooks, nn.Module):
    automatic_optimization = True

    def __init__(self, *args, **options):
        nn.Module.__init__(self)

    @property
    def device(self):
        return torch.device("cuda")

    @property
    def current_epoch(self):
        return 0

    @property
    def global_step(self):
        return self.trainer.global_step

    global_rank = local_rank = 0

    def log(self, *args, **options):
        pass

    log_dict = print = log

    def configure_optimizers(self):
        return None

    def configure_model(self):
        pass

    def on_train_batch_start(self, batch, batch_idx):
        pass

    def on_train_batch_end(self, outputs, batch, batch_idx):
        pass

    def on_before_zero_grad(self, optimizer):
        pass

    def on_before_backward(self, loss):
        pass

    def on_after_backward(self):
        pass

    def on_before_optimizer_step(self, optimizer):
        pass

    def optimizers(self, use_pl_optimizer=True):
        made = self.trainer.optimizers
        return made[0] if len(made) == 1 else made

    def lr_schedulers(self):
        return nn.Identity()

    def manual_backward(self, loss, *args, **options):
        self.trainer.backward(loss, *args, **options)

    def toggle_optimizer(self, optimizer, *args):
        """Only what this optimizer holds takes gradients until it is untoggled."""
        before = self.__dict__["_taking_gradients"] = []
        for each in self.trainer.optimizers:
            for parameter in held_by(each):
                before.append((parameter, parameter.requires_grad))
                parameter.requires_grad = False
        own = {id(each) for each in held_by(optimizer)}
        for parameter, takes in before:
            if id(parameter) in own:
                parameter.requires_grad = takes

    def untoggle_optimizer(self, optimizer, *args):
        for parameter, takes in self.__dict__.pop("_taking_gradients", ()):
            parameter.requires_grad = takes

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.trainer.clip(self, gradient_clip_val)


class Callback:
    pass


class _Optimizer:
    """An optimizer under manual optimization: a loss scaler steps it where there is one."""

    def __init__(self, optimizer, trainer):
        self.optimizer = optimizer
        self.trainer = trainer

    def __getattr__(self, name):
        return getattr(self.__dict__["optimizer"], name)

    def step(self, closure=None):
        self.trainer.step(self.optimizer)


class Trainer:
    global_rank = local_rank = 0
    is_global_zero = True
    world_size = num_devices = 1
    global_step = current_epoch = 0

    def __init__(
        self, accelerator="auto", strategy="auto", devices="auto", precision=None, accumulate_grad_batches=1, gradient_clip_val=None, max_epochs=None,
        **options,
    ):  # fmt: skip
        self.precision = lightning_built(precision, accumulate_grad_batches)
        noted_devices(devices_of(devices, options.get("num_nodes", 1)))
        self.sharded = sharded(strategy, self.precision)
        self.dtype = torch.bfloat16 if "bf16" in self.precision else torch.float16 if "16" in self.precision else None
        self.pure = self.precision.endswith("-true")
        self.scaler = torch.amp.GradScaler("cuda") if self.precision == "16-mixed" else None
        self.window = accumulate_grad_batches if isinstance(accumulate_grad_batches, int) else 1
        self.gradient_clip_val = gradient_clip_val
        self.max_epochs = max_epochs
        self.estimated_stepping_batches = 1000

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None):
        model.trainer = self
        if datamodule is None and isinstance(train_dataloaders, LightningDataModule):
            datamodule, train_dataloaders = train_dataloaders, None
        source = datamodule if datamodule is not None else model
        source.prepare_data()
        source.setup("fit")
        loader = train_dataloaders if train_dataloaders is not None else source.train_dataloader()
        while isinstance(loader, (list, dict)):
            loader = list(loader.values())[0] if isinstance(loader, dict) else loader[0]
        model.configure_model()
        model.to(torch.device("cuda"))
        if self.sharded is not None:
            self.sharded.prepare(model)
        if self.pure and self.dtype is not None:
            model.to(self.dtype)
        made = optimizers_in(model.configure_optimizers())
        if self.sharded is not None:
            made = [self.sharded.wrapped(each) for each in made]
        self.optimizers = [_Optimizer(each, self) if not model.automatic_optimization else each for each in made]
        model.train()
        batches = iter(loader)
        model.on_train_start()
        for _ in range(2):
            for index in range(min(self.window, 4) if model.automatic_optimization else 1):
                batch = moved(next(batches), model.device, self.dtype if self.pure else None)
                model.on_train_batch_start(batch, index)
                self.run(model, batch, index)
                del batch
            self.global_step += 1

    def run(self, model, batch, index):
        """One micro-batch."""
        if not model.automatic_optimization:
            self.forward(model, batch, index)
            return
        optimizer = self.optimizers[0]
        outputs = self.forward(model, batch, index)
        if outputs is None:
            return
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        loss = loss / self.window
        if index == 0:
            model.on_before_zero_grad(optimizer)
            optimizer.zero_grad()
        model.on_before_backward(loss)
        self.backward(loss)
        model.on_after_backward()
        if index + 1 == min(self.window, 4):
            model.on_before_optimizer_step(optimizer)
            if self.scaler is not None and self.gradient_clip_val is not None:
                self.scaler.unscale_(optimizer)
            self.clip(model, self.gradient_clip_val)
            self.step(optimizer)

    def forward(self, model, batch, index):
        if self.dtype is None or self.pure:
            return model.training_step(batch, index)
        with torch.autocast("cuda", dtype=self.dtype):
            return model.training_step(batch, index)

    def backward(self, loss, *args, **options):
        if self.scaler is not None:
            loss = self.scaler.scale(loss)
        loss.backward(*args, **options)

    def step(self, optimizer):
        if self.scaler is not None:
            self.scaler.step(optimizer)
            self.scaler.update()
        else:
            optimizer.step()

    def clip(self, model, value):
        if value is not None and value > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), value)

    def validate(self, *args, **options):
        return [{}]

    test = predict = validate

    def save_checkpoint(self, *args, **options):
        pass


def held_by(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def optimizers_in(configured):
    """The optimizers of what ``configure_optimizers`` gives."""
    if isinstance(configured, torch.optim.Optimizer):
        return [configured]
    if isinstance(configured, dict):
        return optimizers_in(configured["optimizer"]) if "optimizer" in configured else []
    if isinstance(configured, (list, tuple)):
        return [optimizer for each in configured for optimizer in optimizers_in(each)]
    return []


def moved(value, device, dtype):
    """A batch on the device, in the parameters' precision where that is not float32."""
    if isinstance(value, torch.Tensor):
        value = value.to(device)
        return value.to(dtype) if dtype is not None and value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return [moved(item, device, dtype) for item in value]
    if hasattr(value, "items"):
        return {name: moved(item, device, dtype) for name, item in value.items()}
    return value
