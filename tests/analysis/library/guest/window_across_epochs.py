"""The window is counted over epochs, the clearing happens at each start: what was gathered since the last step is lost."""

import torch


class Fitter:
    def __init__(self, model, batches, window_samples=48, batch_size=12):
        self.model = model
        self.batches = batches
        self.window = window_samples // batch_size
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self, epochs):
        done, updated = 0, 0
        for _ in range(epochs):
            self.model.train()
            self.optimizer.zero_grad()
            for x, y in self.batches:
                loss = torch.nn.functional.mse_loss(self.model(x), y) / self.window
                loss.backward()
                done += 1
                if done - updated >= self.window:
                    self.update()
                    updated = done
