"""What Lightning's trainer does with a module, in the order in which it calls the hooks."""

import torch
from lightning.fabric import Fabric
from lightning.pytorch.core import Callback, LightningDataModule, LightningModule
from preflight_library import batches_of, fitted, framework_loader, monitored_by, optimizers_in, scales_losses, schedulers_in, taken, together


def without_graph(output):
    """What hooks are given of the output of a step: its tensors carry no graph any more."""
    if isinstance(output, dict):
        return {key: without_graph(value) for key, value in output.items()}
    return output.detach() if isinstance(output, torch.Tensor) else output


class Strategy:
    """What a trainer's strategy does for whoever asks it directly."""

    def __init__(self, name):
        self.name = name

    @property
    def world_size(self):
        return torch.distributed.get_world_size()

    def barrier(self, *args, **kwargs):
        torch.distributed.barrier()


class Trainer:
    def __init__(
        self, *args, accumulate_grad_batches=1, gradient_clip_val=None, devices="auto", strategy="auto", max_epochs=None, callbacks=None, num_nodes=1, **options
    ):
        several = (isinstance(devices, int) and devices > 1) or (isinstance(num_nodes, int) and num_nodes > 1)
        if several or (isinstance(strategy, str) and strategy.startswith(("ddp", "fsdp", "deepspeed"))):
            torch.distributed.init_process_group(strategy)
        self.strategy = Strategy(strategy)
        self.accumulate_grad_batches = accumulate_grad_batches
        self.gradient_clip_val = gradient_clip_val
        self.max_epochs = 1000 if max_epochs is None or max_epochs == -1 else max_epochs
        self.callbacks = callbacks
        self.monitored = monitored_by(taken(callbacks))
        self.precision = options.get("precision")
        self.current_epoch = 0
        self.global_step = 0
        self.sanity_checking = False
        self.is_last_batch = False
        self.global_rank = torch.distributed.get_rank()
        self.is_global_zero = self.global_rank == 0
        self.world_size = torch.distributed.get_world_size()

    @property
    def num_training_batches(self):
        return batches_of(self.train_dataloader)

    @property
    def estimated_stepping_batches(self):
        return self.max_epochs * (batches_of(self.train_dataloader) // self.accumulate_grad_batches)

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, **options):
        model.trainer = self
        if datamodule is not None and train_dataloaders is None:
            datamodule.trainer = self
            fitted(datamodule.setup, "fit")
            train_dataloaders = datamodule.train_dataloader()
            val_dataloaders = datamodule.val_dataloader()
        fitted(model.setup, "fit")
        self.train_dataloader = train_dataloaders or model.train_dataloader()
        self.val_dataloaders = val_dataloaders or model.val_dataloader()
        model.configure_model()
        configured = model.configure_optimizers()
        model._optimizers = optimizers_in(configured)
        model._schedulers = schedulers_in(configured)
        self._own = [each for each in (*taken(self.callbacks), *taken(model.configure_callbacks())) if isinstance(each, Callback)]
        scales_losses(model, self.precision)
        model.train()
        self._hook(model, "on_fit_start")
        self._hook(model, "on_train_start")
        for epoch in range(self.max_epochs):
            self.current_epoch = epoch
            self._epoch(model, configured)
        self._hook(model, "on_train_end")
        self._hook(model, "on_fit_end")

    def _hook(self, model, name, *arguments):
        for callback in self._own:
            fitted(getattr(callback, name), self, model, *arguments)
        fitted(getattr(model, name), *arguments)

    def _epoch(self, model, configured):
        self._hook(model, "on_train_epoch_start")
        outputs = []
        for batch_idx, batch in enumerate(framework_loader(self.train_dataloader)):
            self.is_last_batch = batch_idx + 1 == batches_of(self.train_dataloader)
            self._hook(model, "on_train_batch_start", batch, batch_idx)
            output = self._batch(model, batch, batch_idx)
            self.global_step += 1
            if model.automatic_optimization and (batch_idx + 1) % self.accumulate_grad_batches == 0:
                for scheduler in schedulers_in(configured, "step"):
                    model.lr_scheduler_step(scheduler, None)
            self._hook(model, "on_train_batch_end", without_graph(output), batch, batch_idx)
        if model.automatic_optimization:
            for scheduler in schedulers_in(configured, "epoch"):
                model.lr_scheduler_step(scheduler, None)
        self._validate(model, self.val_dataloaders)
        if hasattr(model, "training_epoch_end"):
            model.training_epoch_end(outputs)
        self._hook(model, "on_train_epoch_end")

    def _batch(self, model, batch, batch_idx):
        if not model.automatic_optimization:
            return fitted(model.training_step, batch, batch_idx)
        if len(model._optimizers) < 2:
            return self._update(model, model._optimizers[0] if model._optimizers else None, batch, batch_idx, 0)
        for number, optimizer in enumerate(model._optimizers):
            output = self._update(model, optimizer, batch, batch_idx, number)
        return output

    def _update(self, model, optimizer, batch, batch_idx, number):
        output = None

        def closure():
            nonlocal output
            output = fitted(model.training_step, batch, batch_idx, number)
            loss = output["loss"] if isinstance(output, dict) else output
            if loss is None:
                return None
            if optimizer is not None and batch_idx % self.accumulate_grad_batches == 0:
                self._hook(model, "on_before_zero_grad", optimizer)
                fitted(model.optimizer_zero_grad, self.current_epoch, batch_idx, optimizer, number)
            loss = loss / self.accumulate_grad_batches
            self._hook(model, "on_before_backward", loss)
            fitted(model.backward, loss, optimizer, number)
            self._hook(model, "on_after_backward")
            return loss

        def whole():
            loss = closure()
            if loss is not None:
                self._hook(model, "on_before_optimizer_step", optimizer, number)
                fitted(model.configure_gradient_clipping, optimizer, self.gradient_clip_val, None)
            return loss

        if optimizer is not None and (batch_idx + 1) % self.accumulate_grad_batches == 0:
            fitted(model.optimizer_step, self.current_epoch, batch_idx, optimizer, whole)
        else:
            closure()
        return output

    def _validate(self, model, dataloaders):
        if dataloaders is None:
            return
        model.eval()
        with torch.no_grad():
            self._hook(model, "on_validation_start")
            self._hook(model, "on_validation_epoch_start")
            outputs = []
            for batch_idx, batch in enumerate(framework_loader(dataloaders)):
                self._hook(model, "on_validation_batch_start", batch, batch_idx)
                output = fitted(model.validation_step, batch, batch_idx)
                outputs.append(output)
                self._hook(model, "on_validation_batch_end", output, batch, batch_idx)
            if hasattr(model, "validation_epoch_end"):
                model.validation_epoch_end(outputs)
            self._hook(model, "on_validation_epoch_end")
            self._hook(model, "on_validation_end")
        model.train()

    def validate(self, model=None, dataloaders=None, datamodule=None, **options):
        if model is not None:
            model.trainer = self
            self._own = [each for each in taken(self.callbacks) if isinstance(each, Callback)]
            self._validate(model, dataloaders)

    def test(self, model=None, dataloaders=None, datamodule=None, **options):
        if model is None or dataloaders is None:
            return
        model.trainer = self
        model.eval()
        with torch.no_grad():
            fitted(model.on_test_epoch_start)
            for batch_idx, batch in enumerate(framework_loader(dataloaders)):
                fitted(model.test_step, batch, batch_idx)
            fitted(model.on_test_epoch_end)
        model.train()

    def predict(self, model=None, dataloaders=None, **options):
        pass

    def save_checkpoint(self, path, **options):
        together("Trainer.save_checkpoint")
