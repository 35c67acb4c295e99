"""Configurations, for model source that is read from a release of diffusers. Mirrors diffusers 0.42.1 (``configuration_utils.py``)."""

from preflight_host import constructor_classes, given_arguments
from preflight_zoo.diffusion import Config


def registered_numbers(self):
    return self.__dict__["_internal_dict"]


def register_numbers(self, **numbers):
    self.__dict__["_internal_dict"] = Config({**self.__dict__.get("_internal_dict", {}), **numbers})


class ConfigMixin:
    config_name = None
    config = property(registered_numbers)
    register_to_config = register_numbers

    @classmethod
    def from_config(cls, config=None, **options):
        """What the constructor takes of a configuration; options go before it."""
        taken = constructor_classes(cls)
        return cls(**{name: value for name, value in {**dict(config), **options}.items() if name in taken})

    def save_config(self, path, **options):
        pass


LegacyConfigMixin = ConfigMixin


def register_to_config(init):
    """A constructor that keeps what it was given as the configuration."""

    def registered(self, *args, **kwargs):
        self.register_to_config(**given_arguments(init, (self, *args), kwargs))
        init(self, *args, **kwargs)

    registered.__wrapped__ = init
    return registered
