"""Hidden states and attentions are recorded where they are asked for; they are not."""


class OutputRecorder:
    def __init__(self, *args, **options):
        pass


def capture_outputs(function=None, **options):
    return same if function is None else function


def same(value):
    return value
