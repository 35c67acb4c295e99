"""``deepspeed``. Mirrors DeepSpeed 0.18: what a configuration does to a model's type, to the optimizer's state and to its place, for one rank.

How much of it a rank holds is for formulas (``estimator/sharding.py``); here everything is there once.
"""

import torch
from deepspeed.engine import DeepSpeedEngine, from_configuration, optimizer_for
from preflight_host import document, world_size
from torch.utils.data import DataLoader

__all__ = ["DeepSpeedEngine", "add_config_arguments", "init_distributed", "init_inference", "initialize", "zero"]


def init_distributed(*args, **options):
    pass


def add_config_arguments(parser):
    parser.add_argument("--deepspeed", default=False, action="store_true")
    parser.add_argument("--deepspeed_config", default=None, type=str)
    return parser


def initialize(
    args=None, model=None, optimizer=None, model_parameters=None, training_data=None, lr_scheduler=None, distributed_port=29500, mpu=None,
    dist_init_required=None, collate_fn=None, config=None, mesh_param=None, config_params=None, **options,
):  # fmt: skip
    """The engine, the optimizer, a loader of ``training_data`` and the scheduler."""
    given = config if config is not None else config_params
    if given is None and args is not None:
        given = getattr(args, "deepspeed_config", None)
    settings = from_configuration(document(given))
    settings.prepare(model)
    trained = model_parameters if model_parameters is not None else [p for p in model.parameters() if p.requires_grad]
    if optimizer is None or callable(optimizer):
        optimizer = optimizer_for(settings, list(trained)) if optimizer is None else optimizer(list(trained))
    made = settings.wrapped(optimizer)
    engine = DeepSpeedEngine(model, made, settings, lr_scheduler)
    loader = None
    if training_data is not None:
        loader = DataLoader(training_data, batch_size=settings.micro_batch, collate_fn=collate_fn, shuffle=True)
    return engine, made, loader, lr_scheduler


def init_inference(model, *args, **options):
    return model


class zero:
    class Init:
        def __init__(self, *args, **options):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return False

    class GatheredParameters(Init):
        pass
