"""``accelerate.state``: which process this one is, of how many."""

from contextlib import contextmanager

import torch
from preflight_host import world_size


class PartialState:
    is_main_process = is_local_main_process = True
    process_index = local_process_index = 0
    distributed_type = "NO"
    _shared_state = {}

    def __init__(self, cpu=False, **options):
        self.device = torch.device("cpu" if cpu else "cuda")

    @property
    def num_processes(self):
        return world_size()

    @property
    def use_distributed(self):
        return world_size() > 1

    @contextmanager
    def split_between_processes(self, inputs, apply_padding=False):
        """The first process's part, than which no other one's is larger."""
        yield first_part(inputs, world_size())

    @contextmanager
    def main_process_first(self):
        yield

    local_main_process_first = main_process_first

    def wait_for_everyone(self):
        pass

    destroy_process_group = wait_for_everyone

    def print(self, *args, **options):
        pass

    def on_main_process(self, function):
        return function

    on_local_main_process = on_main_process

    def _reset_state(self, reset_partial_state=False):
        pass


class AcceleratorState(PartialState):
    pass


GradientState = AcceleratorState


def first_part(inputs, parts):
    if isinstance(inputs, dict):
        return {name: first_part(value, parts) for name, value in inputs.items()}
    return inputs[: (len(inputs) + parts - 1) // parts]
