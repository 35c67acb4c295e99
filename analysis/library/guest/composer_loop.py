"""What Composer's trainer does with a model."""

import torch
from preflight_library import framework_loader


class ComposerModel(torch.nn.Module):
    def eval_forward(self, batch, outputs=None):
        return self.forward(batch)


class Trainer:
    def __init__(self, *, model=None, train_dataloader=None, eval_dataloader=None, optimizers=None, schedulers=None, **options):
        self.model = model
        self.train_dataloader = train_dataloader
        self.optimizer = optimizers

    def fit(self, **options):
        self.model.train()
        for epoch in range(2):
            for batch in framework_loader(self.train_dataloader):
                self.optimizer.zero_grad()
                outputs = self.model(batch)
                loss = self.model.loss(outputs, batch)
                loss.backward()
                self.optimizer.step()

    def eval(self, **options):
        pass

    def close(self):
        pass
