"""The base of schedulers, for those that are read from a release of diffusers. Mirrors diffusers 0.42.1 (``schedulers/scheduling_utils.py``).

A published scheduler has the numbers of its class: how much noise there is at a step changes no size.
"""

from enum import Enum

from preflight_zoo.outputs import ModelOutput as SchedulerOutput


class KarrasDiffusionSchedulers(Enum):
    DDIMScheduler = 1


class SchedulerMixin:
    _compatibles = []
    has_compatibles = True

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path=None, **options):
        return cls()

    def save_pretrained(self, path, **options):
        pass

    @property
    def compatibles(self):
        return []
