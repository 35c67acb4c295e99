"""What an Ignite engine does with its process function."""

import torch


class Events:
    STARTED = "started"
    COMPLETED = "completed"
    EPOCH_STARTED = "epoch_started"
    EPOCH_COMPLETED = "epoch_completed"
    ITERATION_STARTED = "iteration_started"
    ITERATION_COMPLETED = "iteration_completed"
    EXCEPTION_RAISED = "exception_raised"


class State:
    def __init__(self):
        self.epoch = 0
        self.iteration = 0
        self.metrics = {}
        self.output = None
        self.batch = None


class Engine:
    def __init__(self, process_function):
        self.process_function = process_function
        self.state = State()
        self.handlers = []

    def on(self, event, *args, **kwargs):
        def register(handler):
            self.handlers.append((event, handler))
            return handler

        return register

    def add_event_handler(self, event, handler, *args, **kwargs):
        self.handlers.append((event, handler))

    def has_event_handler(self, handler, event=None):
        return False

    def terminate(self):
        pass

    def fire_event(self, name):
        for event, handler in self.handlers:
            if event == name and callable(handler):
                handler(self)

    def run(self, data=None, max_epochs=None, epoch_length=None, **options):
        self.fire_event(Events.STARTED)
        for epoch in range(2):
            self.state.epoch += 1
            self.fire_event(Events.EPOCH_STARTED)
            for batch in data:
                self.state.iteration += 1
                self.state.batch = batch
                self.fire_event(Events.ITERATION_STARTED)
                self.state.output = self.process_function(self, batch)
                self.fire_event(Events.ITERATION_COMPLETED)
            self.fire_event(Events.EPOCH_COMPLETED)
        self.fire_event(Events.COMPLETED)
        return self.state


def create_supervised_trainer(model, optimizer, loss_fn, *args, **options):
    def update(engine, batch):
        model.train()
        optimizer.zero_grad()
        x, y = batch
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return Engine(update)


def create_supervised_evaluator(model, metrics=None, *args, **options):
    def infer(engine, batch):
        model.eval()
        with torch.no_grad():
            x, y = batch
            return model(x), y

    return Engine(infer)
