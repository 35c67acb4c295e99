"""The engine of ``ignite``: a loop over data around one function. Mirrors pytorch-ignite 0.5 (``ignite/engine``). Handlers of events are not run."""

import torch


class Event:
    def __call__(self, event_filter=None, every=None, once=None, before=None, after=None):
        return self

    def __or__(self, other):
        return self


class Events:
    EPOCH_STARTED = EPOCH_COMPLETED = STARTED = COMPLETED = ITERATION_STARTED = ITERATION_COMPLETED = EXCEPTION_RAISED = Event()
    GET_BATCH_STARTED = GET_BATCH_COMPLETED = TERMINATE = TERMINATE_SINGLE_EPOCH = INTERRUPT = DATALOADER_STOP_ITERATION = Event()


class State:
    def __init__(self):
        self.iteration = 0
        self.epoch = 0
        self.max_epochs = 1
        self.epoch_length = None
        self.output = self.batch = self.dataloader = None
        self.metrics = {}
        self.times = {}


class Engine:
    def __init__(self, process_function):
        self._process_function = process_function
        self.state = State()
        self.should_terminate = False

    def on(self, event_name, *args, **kwargs):
        return lambda handler: handler

    def add_event_handler(self, event_name, handler, *args, **kwargs):
        pass

    def remove_event_handler(self, handler, event_name):
        pass

    def has_event_handler(self, handler, event_name=None):
        return False

    def fire_event(self, event_name):
        pass

    def register_events(self, *names, **options):
        pass

    def terminate(self):
        self.should_terminate = True

    terminate_epoch = terminate

    def run(self, data=None, max_epochs=None, epoch_length=None):
        state = self.state
        state.max_epochs = 1 if max_epochs is None else max_epochs
        state.dataloader = data
        state.epoch_length = len(data) if epoch_length is None and hasattr(data, "__len__") else epoch_length
        for epoch in range(state.max_epochs):
            state.epoch = epoch + 1
            for batch in data:
                state.iteration += 1
                state.batch = batch
                state.output = self._process_function(self, batch)
        return state


def convert_tensor(value, device=None, non_blocking=False):
    if isinstance(value, torch.Tensor):
        return value.to(device=device, non_blocking=non_blocking)
    if isinstance(value, dict):
        return {name: convert_tensor(each, device, non_blocking) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([convert_tensor(each, device, non_blocking) for each in value])
    return value


def _prepare_batch(batch, device=None, non_blocking=False):
    x, y = batch
    return convert_tensor(x, device, non_blocking), convert_tensor(y, device, non_blocking)


def create_supervised_trainer(
    model, optimizer, loss_fn, device=None, non_blocking=False, prepare_batch=_prepare_batch, output_transform=None, deterministic=False, amp_mode=None,
    scaler=False, gradient_accumulation_steps=1, model_transform=lambda output: output, model_fn=lambda model, x: model(x),
):  # fmt: skip
    scaler = torch.amp.GradScaler("cuda", enabled=bool(scaler))

    def update(engine, batch):
        if (engine.state.iteration - 1) % gradient_accumulation_steps == 0:
            optimizer.zero_grad()
        model.train()
        x, y = prepare_batch(batch, device=device, non_blocking=non_blocking)
        with torch.autocast("cuda", enabled=amp_mode == "amp"):
            y_pred = model_transform(model_fn(model, x))
            loss = loss_fn(y_pred, y)
        if gradient_accumulation_steps > 1:
            loss = loss / gradient_accumulation_steps
        scaler.scale(loss).backward()
        if engine.state.iteration % gradient_accumulation_steps == 0:
            scaler.step(optimizer)
            scaler.update()
        return loss.item() if output_transform is None else output_transform(x, y, y_pred, loss)

    return Engine(update)


def create_supervised_evaluator(
    model, metrics=None, device=None, non_blocking=False, prepare_batch=_prepare_batch, output_transform=lambda x, y, y_pred: (y_pred, y),
    model_transform=lambda output: output, amp_mode=None, model_fn=lambda model, x: model(x),
):  # fmt: skip
    def evaluate(engine, batch):
        model.eval()
        with torch.no_grad():
            x, y = prepare_batch(batch, device=device, non_blocking=non_blocking)
            with torch.autocast("cuda", enabled=amp_mode == "amp"):
                y_pred = model_transform(model_fn(model, x))
            return output_transform(x, y, y_pred)

    return Engine(evaluate)
