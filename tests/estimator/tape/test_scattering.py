"""What operations that put elements at indices keep for backward, and several optimizers in one run."""

from __future__ import annotations

import pytest

from estimator.tape.run import Tape
from tests.estimator.script.running import estimated
from tests.estimator.tape.native import Library
from tests.estimator.zoo.test_blocks import held

LIBRARY = Library()
ROWS, WIDTH = 1024, 256
SOURCE = ROWS * WIDTH * 4


def kept(name):
    """Bytes alive beyond the result after the source's own name is gone."""
    tape = Tape()
    with tape.active():
        torch = LIBRARY.load("torch")
        target = torch.zeros(64, WIDTH, device="cuda")
        index = torch.zeros(ROWS, dtype=torch.int64, device="cuda")
        weight = torch.zeros(ROWS, WIDTH, device="cuda", requires_grad=True)
        before, _ = held(tape)
        where = index if name.startswith("index") else index.unsqueeze(1).expand(ROWS, WIDTH)
        made = getattr(target, name)(0, where, weight + 1.0)
        after, _ = held(tape)
        assert made.requires_grad
    return after - before - 64 * WIDTH * 4


@pytest.mark.parametrize(("name", "extra"), [("index_add", SOURCE), ("index_copy", SOURCE), ("scatter_add", 0), ("scatter", 0)])
def test_operations_by_index_keep_their_source_where_backward_asks_for_its_shape(name, extra):
    assert kept(name) == extra


def test_a_run_goes_on_until_every_optimizer_has_stepped_twice():
    script = """
        import torch
        from torch import nn
        first, second = nn.Linear(512, 512).cuda(), nn.Linear(512, 512).cuda()
        one, two = torch.optim.Adam(first.parameters()), torch.optim.Adam(second.parameters())
        for _ in range(10):
            x = torch.randn(4096, 512, device="cuda")
            for model, optimizer in ((first, one), (second, two)):
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
    """
    found = estimated(script)
    # The state of both is there in the second round, with the gradients that the first one left.
    state = 2 * 2 * (512 * 512 + 512) * 4
    assert found.memory.components.optimizer_state >= state
