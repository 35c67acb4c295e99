"""Context managers of the gradient mode, which are decorators as well."""

import torch


class _GradMode:
    """Sets the mode to ``enabled`` between entry and exit."""

    enabled = False

    def __init__(self):
        self.before = []

    def __enter__(self):
        self.before.append(torch._C._set_grad_enabled(self.enabled))
        return self

    def __exit__(self, *exception):
        torch._C._set_grad_enabled(self.before.pop())

    def __call__(self, function):
        mode = self

        def in_mode(*args, **kwargs):
            with mode:
                return function(*args, **kwargs)

        return in_mode


class no_grad(_GradMode):
    """Record no graph. ``@torch.no_grad`` without a call works as well."""

    def __new__(cls, function=None):
        if function is None:
            return object.__new__(cls)
        mode = object.__new__(cls)
        mode.before = []
        return mode(function)


class enable_grad(no_grad):
    """Record the graph."""

    enabled = True


class set_grad_enabled(_GradMode):
    """Record the graph or not; takes effect at once, and until exit if it is entered."""

    def __init__(self, mode):
        self.enabled = mode
        self.before = []
        self.outer = torch._C._set_grad_enabled(mode)

    def __enter__(self):
        self.before.append(self.outer)
        torch._C._set_grad_enabled(self.enabled)


class inference_mode(_GradMode):
    """Record no graph, and do not allow one later."""

    def __init__(self, mode=True):
        self.enabled = not mode
        self.before = []
        if callable(mode):
            raise TypeError("inference_mode is called with a function")
