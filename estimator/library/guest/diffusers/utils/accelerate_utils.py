"""Hooks that bring a part of a model to the device before it runs; none is set here."""


def apply_forward_hook(method):
    return method
