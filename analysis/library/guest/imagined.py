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


def fit(model):
    from lightning.pytorch import Trainer

    class Imagined(Trainer):
        def _validate(self, model, dataloaders):
            super()._validate(model, dataloaders or [None])

    Imagined().fit(model)


def again_and_again(step):
    for batch in framework_loader(None):
        step()


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
