"""What a model's forward returns: named values that can be taken by attribute, by name or by position, and that live as long as it does.

Mirrors transformers 5.24.0 (``ModelOutput``): values that are None are neither counted nor iterated.
"""


class ModelOutput:
    def __init__(self, **values):
        self._names = []
        for name, value in values.items():
            setattr(self, name, value)
            if value is not None:
                self._names.append(name)

    @property
    def past_key_values(self):
        return self.cache

    def keys(self):
        return list(self._names)

    def values(self):
        return list(self.to_tuple())

    def items(self):
        return [(name, getattr(self, name)) for name in self._names]

    def to_tuple(self):
        return tuple(getattr(self, name) for name in self._names)

    def get(self, name, default=None):
        return getattr(self, name) if name in self._names else default

    def __contains__(self, name):
        return name in self._names

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        return iter(self._names)

    def __setitem__(self, name, value):
        setattr(self, name, value)
        if name not in self._names:
            self._names.append(name)

    def __getitem__(self, key):
        if isinstance(key, str):
            return getattr(self, key)
        return self.to_tuple()[key]
