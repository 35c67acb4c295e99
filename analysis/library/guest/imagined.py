"""A training loop for a module that no loop was seen to train."""

import torch
from preflight_library import framework_loader, total


def train_module(model, arguments):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(2):
        for batch in framework_loader(None):
            output = model(*arguments)
            optimizer.zero_grad()
            total(output).backward()
            optimizer.step()


def fit(model, callbacks=None):
    from lightning.pytorch import Trainer

    class Imagined(Trainer):
        def _validate(self, model, dataloaders):
            super()._validate(model, dataloaders or [None])

    Imagined(callbacks=callbacks).fit(model)


def called_back(callback, net):
    from lightning.pytorch import LightningModule
    from transformers import Trainer, TrainerCallback

    class Module(LightningModule):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, *args, **kwargs):
            return self.net(*args, **kwargs)

        def training_step(self, batch, batch_idx):
            return total(self(batch))

        def validation_step(self, batch, batch_idx):
            return total(self(batch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.net.parameters(), lr=0.1)

    if isinstance(callback, TrainerCallback):
        Trainer(model=net, callbacks=[callback]).train()
    else:
        fit(Module(), [callback])


def again_and_again(step):
    for batch in framework_loader(None):
        step()


def batch_by_batch(step, given):
    for _ in range(3):
        step(*given())


def measure(update, result):
    for batch in framework_loader(None):
        update()
    return result()


def attached(handler, model):
    from ignite.engine import Engine

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(engine, batch):
        model.train()
        output = model(batch)
        optimizer.zero_grad()
        total(output).backward()
        optimizer.step()
        return output

    trainer = Engine(train)
    handler.attach(trainer)
    trainer.run(framework_loader(None))


class Runner:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.data_loader = self.train_dataloader = framework_loader(None)
        self.iter = self.epoch = self.inner_iter = 0
        self.outputs = None


def hooked(hook, model, told, steps):
    runner = Runner(model, torch.optim.SGD(model.parameters(), lr=0.1))
    told(hook, "before_run", runner)
    told(hook, "before_train", runner)
    for epoch in range(2):
        runner.epoch = epoch
        model.train()
        told(hook, "before_train_epoch", runner)
        for index, batch in enumerate(runner.data_loader):
            runner.inner_iter = index
            told(hook, "before_train_iter", runner, index, batch)
            loss = total(model(batch))
            runner.outputs = {"loss": loss}
            if steps:
                runner.optimizer.zero_grad()
                loss.backward()
                runner.optimizer.step()
            told(hook, "after_train_iter", runner, index, batch, runner.outputs)
            runner.iter += 1
        told(hook, "after_train_epoch", runner)
        model.eval()
        with torch.no_grad():
            told(hook, "before_val_epoch", runner)
            for index, batch in enumerate(framework_loader(None)):
                told(hook, "after_val_iter", runner, index, batch, model(batch))
            told(hook, "after_val_epoch", runner, {})
            told(hook, "after_val", runner)
    told(hook, "after_train", runner)
