from __future__ import annotations

import pytest

from estimator.tape.run import Tape
from tests.estimator.tape.native import Library


@pytest.fixture
def tape():
    """The tape that operations write on."""
    with Tape().active() as tape:
        yield tape


@pytest.fixture
def torch(tape):
    """The imaginary PyTorch, making tensors on the GPU."""
    library = Library().load("torch")
    library.set_default_device("cuda")
    tape.events.clear()
    return library
