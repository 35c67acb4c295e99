"""What a model's ``state_dict()`` gives: one entry stands for all parameters, whatever their names."""

from __future__ import annotations

from analysis.interpreter.values import GuestDict, Value


class StateDict(GuestDict):
    """Whoever asks for a parameter by its name gets what stands for them all."""

    __slots__ = ()

    def __missing__(self, key: Value) -> Value:
        for value in self.values():
            return value
        raise KeyError(key)

    def get(self, key: Value, default: Value = None) -> Value:
        """The entry that stands for all; the default where none is left."""
        return self[key] if self else default
