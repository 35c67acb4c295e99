"""What Lightning's own classes do before anybody overrides them: modules, data modules and callbacks."""

import torch
from preflight_library import gathered, log_value


class Data:
    """Where a module or a data module says what it is trained on."""

    def prepare_data(self):
        pass

    def train_dataloader(self):
        return None

    def val_dataloader(self):
        return None

    def test_dataloader(self):
        return None


class LightningDataModule(Data):
    trainer = None

    def __init__(self, *args, **kwargs):
        pass

    def save_hyperparameters(self, *args, **kwargs):
        pass

    def setup(self, stage=None):
        pass


class Hooks:
    """Where a trainer lets modules and callbacks do something of their own; callbacks are given the trainer and the module first."""

    def _nothing(self, *args, **kwargs):
        pass

    setup = on_fit_start = on_fit_end = on_train_start = on_train_end = on_train_epoch_start = on_train_epoch_end = _nothing
    on_train_batch_start = on_train_batch_end = on_before_zero_grad = on_before_backward = on_after_backward = on_before_optimizer_step = _nothing
    on_validation_start = on_validation_end = on_validation_epoch_start = on_validation_epoch_end = _nothing
    on_validation_batch_start = on_validation_batch_end = on_test_start = on_test_epoch_start = on_test_epoch_end = on_test_end = _nothing
    on_save_checkpoint = on_load_checkpoint = teardown = _nothing


class Callback(Hooks):
    pass


class LightningModule(torch.nn.Module, Hooks, Data):
    automatic_optimization = True

    def __init__(self, *args, **kwargs):
        super().__init__()

    def save_hyperparameters(self, *args, **kwargs):
        pass

    def configure_optimizers(self):
        return None

    def configure_callbacks(self):
        return []

    def configure_model(self):
        pass

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        if gradient_clip_val:
            torch.nn.utils.clip_grad_norm_(self.parameters(), gradient_clip_val)

    def log(self, name, value, *args, sync_dist=False, **kwargs):
        log_value(name, value, sync_dist, self._monitored())

    def log_dict(self, values, *args, sync_dist=False, **kwargs):
        monitored = self._monitored()
        for name in values if monitored else ():
            if name in monitored:
                log_value(name, values[name], sync_dist, monitored)
        log_value("log_dict", values, sync_dist, ())

    def _monitored(self):
        return getattr(getattr(self, "trainer", None), "monitored", ())

    def print(self, *args, **kwargs):
        pass

    all_gather = gathered

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

    def freeze(self):
        for parameter in self.parameters():
            parameter.requires_grad = False
        self.eval()

    def unfreeze(self):
        for parameter in self.parameters():
            parameter.requires_grad = True
        self.train()

    def optimizer_step(self, epoch, batch_idx, optimizer, *args, optimizer_closure=None, **kwargs):
        for given in args:
            if callable(given):
                optimizer_closure = given
        optimizer.step(closure=optimizer_closure)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer, *args):
        optimizer.zero_grad()

    def backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)

    def lr_scheduler_step(self, scheduler, metric=None):
        scheduler.step()

    def training_step(self, batch, batch_idx, *args):
        return None

    def validation_step(self, batch, batch_idx, *args):
        return None

    def test_step(self, batch, batch_idx, *args):
        return None

    @property
    def current_epoch(self):
        return self.trainer.current_epoch

    @property
    def global_step(self):
        return self.trainer.global_step

    @property
    def global_rank(self):
        return self.trainer.global_rank

    @property
    def local_rank(self):
        return self.trainer.local_rank
