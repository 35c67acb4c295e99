"""Generation is the base class's own (``modeling_utils``)."""


class GenerationMixin:
    pass


class GenerationConfig:
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)


class LogitsProcessorList(list):
    pass
