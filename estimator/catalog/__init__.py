"""What is known by name: GPUs, cloud instances and published models, as data with the source of every number."""

from estimator.catalog.gpus import ASSUMED_CONTEXT_BYTES, Gpu, Instance, gpu, gpus, instance, instances
from estimator.catalog.models import Model, model, models
from estimator.catalog.names import UnknownNameError
from estimator.catalog.parts import catalog_name, part, parts

__all__ = [
    "ASSUMED_CONTEXT_BYTES",
    "Gpu",
    "Instance",
    "Model",
    "UnknownNameError",
    "catalog_name",
    "gpu",
    "gpus",
    "instance",
    "instances",
    "model",
    "models",
    "part",
    "parts",
]
