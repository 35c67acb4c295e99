"""What fvcore's checkpointer saves and restores: the model, and every object that it was given by name."""

import torch


class Checkpointer:
    def __init__(self, model, save_dir="", *, save_to_disk=True, **checkpointables):
        self.model = model
        self.save_dir = save_dir
        self.save_to_disk = save_to_disk
        self.checkpointables = dict(checkpointables)

    def add_checkpointable(self, key, checkpointable):
        self.checkpointables[key] = checkpointable

    def save(self, name, **more):
        if not self.save_to_disk:
            return
        held = {"model": self.model.state_dict()}
        for key, each in self.checkpointables.items():
            held[key] = each.state_dict()
        held.update(more)
        torch.save(held, name)

    def load(self, path, checkpointables=None):
        found = torch.load(path)
        self.model.load_state_dict(found["model"])
        for key, each in self.checkpointables.items():
            each.load_state_dict(found[key])
        return found

    def resume_or_load(self, path, *, resume=True):
        return self.load(path)


class PeriodicCheckpointer:
    def __init__(self, checkpointer, period, max_iter=None, max_to_keep=None, file_prefix="model"):
        self.checkpointer = checkpointer
        self.period = period
        self.max_iter = max_iter

    def step(self, iteration, **more):
        if (iteration + 1) % self.period == 0:
            self.checkpointer.save("model", iteration=iteration, **more)

    def save(self, name, **more):
        self.checkpointer.save(name, **more)
