"""What Lightning's trainer does with a module, in the order in which it calls the hooks."""

import torch
from preflight_library import framework_loader, log_value, optimizers_in, schedulers_in, together


class LightningDataModule:
    def __init__(self, *args, **kwargs):
        pass

    def save_hyperparameters(self, *args, **kwargs):
        pass

    def prepare_data(self):
        pass

    def setup(self, stage=None):
        pass

    def train_dataloader(self):
        return None

    def val_dataloader(self):
        return None


class LightningModule(torch.nn.Module):
    automatic_optimization = True

    def __init__(self, *args, **kwargs):
        super().__init__()

    def save_hyperparameters(self, *args, **kwargs):
        pass

    def configure_optimizers(self):
        return None

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        if gradient_clip_val:
            torch.nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)

    def log(self, name, value, *args, sync_dist=False, **kwargs):
        log_value(name, value, sync_dist)

    def log_dict(self, values, *args, sync_dist=False, **kwargs):
        log_value("log_dict", values, sync_dist)

    def print(self, *args, **kwargs):
        pass

    def all_gather(self, data, group=None, sync_grads=False):
        return torch.distributed.nn.functional.all_gather(data) if sync_grads else torch.distributed.all_gather_object([], data)

    def optimizers(self, use_pl_optimizer=True):
        return self._optimizers[0] if len(self._optimizers) == 1 else self._optimizers

    def lr_schedulers(self):
        return self._schedulers[0] if len(self._schedulers) == 1 else self._schedulers

    def manual_backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)

    def toggle_optimizer(self, optimizer):
        pass

    def untoggle_optimizer(self, optimizer):
        pass

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, *args):
        optimizer.zero_grad()

    def backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)

    def lr_scheduler_step(self, scheduler, metric=None):
        scheduler.step()

    def setup(self, stage=None):
        pass

    def on_fit_start(self):
        pass

    def on_train_start(self):
        pass

    def on_train_epoch_start(self):
        pass

    def on_train_batch_start(self, batch, batch_idx, *args):
        pass

    def on_before_zero_grad(self, optimizer):
        pass

    def on_before_backward(self, loss):
        pass

    def on_after_backward(self):
        pass

    def on_before_optimizer_step(self, optimizer, *args):
        pass

    def on_train_batch_end(self, outputs, batch, batch_idx, *args):
        pass

    def on_train_epoch_end(self):
        pass

    def on_validation_epoch_start(self):
        pass

    def on_validation_epoch_end(self):
        pass

    def validation_step(self, batch, batch_idx, *args):
        return None

    def training_step(self, batch, batch_idx, *args):
        return None

    def train_dataloader(self):
        return None

    def val_dataloader(self):
        return None

    @property
    def current_epoch(self):
        return self.trainer.current_epoch

    @property
    def global_step(self):
        return self.trainer.global_step


class Trainer:
    def __init__(self, *args, accumulate_grad_batches=1, gradient_clip_val=None, devices="auto", strategy="auto", **options):
        if (isinstance(devices, int) and devices > 1) or (isinstance(strategy, str) and strategy.startswith(("ddp", "fsdp", "deepspeed"))):
            torch.distributed.init_process_group(strategy)
        self.accumulate_grad_batches = accumulate_grad_batches
        self.gradient_clip_val = gradient_clip_val
        self.current_epoch = 0
        self.global_step = 0
        self.is_global_zero = torch.distributed.get_rank() == 0

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, **options):
        model.trainer = self
        if datamodule is not None and train_dataloaders is None:
            datamodule.setup("fit")
            train_dataloaders = datamodule.train_dataloader()
            val_dataloaders = datamodule.val_dataloader()
        train_dataloaders = train_dataloaders or model.train_dataloader()
        val_dataloaders = val_dataloaders or model.val_dataloader()
        model.setup("fit")
        configured = model.configure_optimizers()
        model._optimizers = optimizers_in(configured)
        model._schedulers = schedulers_in(configured)
        epoch_schedulers, step_schedulers = schedulers_in(configured, "epoch"), schedulers_in(configured, "step")
        model.train()
        model.on_fit_start()
        model.on_train_start()
        for epoch in range(2):
            self.current_epoch = epoch
            model.on_train_epoch_start()
            for batch_idx, batch in enumerate(framework_loader(train_dataloaders)):
                self._batch(model, batch, batch_idx)
                self.global_step += 1
                if model.automatic_optimization and (batch_idx + 1) % self.accumulate_grad_batches == 0:
                    for scheduler in step_schedulers:
                        model.lr_scheduler_step(scheduler, None)
            if model.automatic_optimization:
                for scheduler in epoch_schedulers:
                    model.lr_scheduler_step(scheduler, None)
            self._validate(model, val_dataloaders)
            model.on_train_epoch_end()

    def _batch(self, model, batch, batch_idx):
        model.on_train_batch_start(batch, batch_idx)
        if not model.automatic_optimization:
            outputs = model.training_step(batch, batch_idx)
            model.on_train_batch_end(outputs, batch, batch_idx)
            return
        optimizer = model._optimizers[0]
        outputs = model.training_step(batch, batch_idx)
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        if loss is not None:
            if batch_idx % self.accumulate_grad_batches == 0:
                model.on_before_zero_grad(optimizer)
                model.optimizer_zero_grad(self.current_epoch, batch_idx, optimizer)
            loss = loss / self.accumulate_grad_batches
            model.on_before_backward(loss)
            model.backward(loss)
            model.on_after_backward()
            if (batch_idx + 1) % self.accumulate_grad_batches == 0:
                model.on_before_optimizer_step(optimizer)
                model.configure_gradient_clipping(optimizer, self.gradient_clip_val)
                optimizer.step()
        model.on_train_batch_end(outputs, batch, batch_idx)

    def _validate(self, model, dataloaders):
        if dataloaders is None:
            return
        model.eval()
        with torch.no_grad():
            model.on_validation_epoch_start()
            for batch_idx, batch in enumerate(framework_loader(dataloaders)):
                model.validation_step(batch, batch_idx)
            model.on_validation_epoch_end()
        model.train()

    def validate(self, model=None, dataloaders=None, **options):
        if model is not None:
            model.trainer = self
            self._validate(model, dataloaders)

    def test(self, model=None, dataloaders=None, **options):
        pass

    def predict(self, model=None, dataloaders=None, **options):
        pass

    def save_checkpoint(self, path, **options):
        together("Trainer.save_checkpoint")


class Callback:
    pass


from lightning.fabric import Fabric
