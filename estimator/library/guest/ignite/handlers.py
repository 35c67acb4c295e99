"""What is attached to an engine of ``ignite``: nothing of it stays on the device."""


class Handler:
    def __init__(self, *args, **options):
        self.last_checkpoint = None

    def __call__(self, engine, *args):
        pass

    def attach(self, engine, *args, **options):
        pass

    attach_output_handler = attach_opt_params_handler = attach

    def log_message(self, *args):
        pass

    close = log_message


Checkpoint = ModelCheckpoint = DiskSaver = EarlyStopping = Timer = TerminateOnNan = TimeLimit = ProgressBar = TensorboardLogger = WandBLogger = Handler
LRScheduler = LinearCyclicalScheduler = CosineAnnealingScheduler = ConcatScheduler = PiecewiseLinear = Handler


def global_step_from_engine(engine, *args, **options):
    return lambda *_: engine.state.epoch


def create_lr_scheduler_with_warmup(*args, **options):
    return Handler()
