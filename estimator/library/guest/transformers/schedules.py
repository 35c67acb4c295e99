"""The library's schedules: numbers only."""


class Schedule:
    def __init__(self, *args, **options):
        pass

    def step(self, *args):
        pass

    def get_last_lr(self):
        return [0.0]

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


def get_scheduler(*args, **options):
    return Schedule()


get_linear_schedule_with_warmup = get_cosine_schedule_with_warmup = get_constant_schedule = get_constant_schedule_with_warmup = get_scheduler
get_polynomial_decay_schedule_with_warmup = get_cosine_with_hard_restarts_schedule_with_warmup = get_scheduler
