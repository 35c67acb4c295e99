"""What fastai's learner does with a model, in the order in which it calls its callbacks."""

import torch
from fastai.losses import (
    BCELossFlat,
    BCEWithLogitsLossFlat,
    CrossEntropyLossFlat,
    L1LossFlat,
    LabelSmoothingCrossEntropy,
    LabelSmoothingCrossEntropyFlat,
    MSELossFlat,
)
from fastai.torch_core import set_seed
from preflight_library import framework_loader, taken


class Callback:
    def _nothing(self):
        pass

    before_fit = before_epoch = before_train = before_batch = after_pred = after_loss = before_backward = after_backward = before_step = _nothing
    after_step = after_cancel_batch = after_batch = after_train = before_validate = after_validate = after_epoch = after_fit = after_create = _nothing

    def __getattr__(self, name):
        return getattr(self.learn, name)


class DataLoaders:
    def __init__(self, *loaders, **options):
        self.train = loaders[0] if loaders else None
        self.valid = loaders[1] if len(loaders) > 1 else None


class Learner:
    def __init__(self, dls=None, model=None, loss_func=None, opt_func=None, lr=1e-3, splitter=None, cbs=None, metrics=None, **options):
        self.dls = dls
        self.model = model
        self.loss_func = loss_func if loss_func is not None else torch.nn.CrossEntropyLoss()
        self.cbs = []
        self.training = False
        self.epoch = 0
        self.add_cbs(cbs)

    def add_cbs(self, cbs):
        for callback in taken(cbs):
            self.add_cb(callback)
        return self

    def add_cb(self, callback):
        if isinstance(callback, Callback):
            callback.learn = self
            self.cbs.append(callback)
        return self

    def to_fp16(self, **options):
        return self

    def to_native_fp16(self, **options):
        return self

    def freeze(self):
        pass

    def unfreeze(self):
        pass

    def fit(self, n_epoch=1, lr=None, wd=None, cbs=None, **options):
        self.add_cbs(cbs)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self._hook("before_fit")
        for epoch in range(2):
            self.epoch = epoch
            self._hook("before_epoch")
            self._train()
            self._validate()
            self._hook("after_epoch")
        self._hook("after_fit")

    def fit_one_cycle(self, n_epoch=1, lr_max=None, cbs=None, **options):
        self.fit(n_epoch, cbs=cbs)

    def fit_flat_cos(self, n_epoch=1, lr=None, cbs=None, **options):
        self.fit(n_epoch, cbs=cbs)

    def fine_tune(self, epochs=1, base_lr=None, cbs=None, **options):
        self.fit(epochs, cbs=cbs)

    def lr_find(self, **options):
        return None

    def _hook(self, name):
        for callback in self.cbs:
            getattr(callback, name)()

    def _loader(self, name):
        return framework_loader(getattr(self.dls, name) if isinstance(self.dls, DataLoaders) else None)

    def _train(self):
        self.training = True
        self.model.train()
        self._hook("before_train")
        for batch in self._loader("train"):
            self._take(batch)
            self.loss_grad = self.loss_func(self.pred, self.yb[0])
            self.loss = self.loss_grad.clone()
            self._hook("after_loss")
            self._hook("before_backward")
            self.loss_grad.backward()
            self._hook("after_backward")
            self._hook("before_step")
            self.opt.step()
            self._hook("after_step")
            self.opt.zero_grad()
            self._hook("after_batch")
        self._hook("after_train")

    def _take(self, batch):
        self.xb, self.yb = (batch[0],), (batch[1],)
        self._hook("before_batch")
        self.pred = self.model(*self.xb)
        self._hook("after_pred")

    def _validate(self):
        self.training = False
        self.model.eval()
        with torch.no_grad():
            self._hook("before_validate")
            for batch in self._loader("valid"):
                self._take(batch)
                self.loss = self.loss_func(self.pred, self.yb[0])
                self._hook("after_loss")
                self._hook("after_batch")
            self._hook("after_validate")


def vision_learner(dls, arch, loss_func=None, cbs=None, **options):
    return Learner(dls, arch(), loss_func=loss_func, cbs=cbs)


cnn_learner = unet_learner = vision_learner
