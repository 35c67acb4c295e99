"""Operands that do not fit each other stop an estimate: PyTorch would have stopped too, so something before was misread."""

from __future__ import annotations

import pytest

from estimator.tape.not_followed import NotFollowed
from estimator.tape.run import Tape
from tests.estimator.script.running import estimated, small
from tests.estimator.tape.native import Library

LIBRARY = Library()
CASES = {
    "linear": lambda nn, t, torch: nn.linear(t(4, 8), t(16, 9)),
    "mm": lambda nn, t, torch: t(4, 8) @ t(9, 3),
    "bmm": lambda nn, t, torch: torch.bmm(t(2, 4, 8), t(3, 8, 3)),
    "conv2d": lambda nn, t, torch: nn.conv2d(t(2, 3, 8, 8), t(5, 4, 3, 3)),
    "conv_transpose2d": lambda nn, t, torch: nn.conv_transpose2d(t(2, 3, 8, 8), t(4, 5, 2, 2)),
    "batch_norm": lambda nn, t, torch: nn.batch_norm(t(2, 3, 4, 4), t(5), t(5), t(5), t(5), training=True),
    "layer_norm": lambda nn, t, torch: nn.layer_norm(t(2, 8), (9,), t(9), t(9)),
    "group_norm": lambda nn, t, torch: nn.group_norm(t(2, 6, 4), 4, t(6), t(6)),
    "nll_loss": lambda nn, t, torch: nn.cross_entropy(t(4, 10), t(5, dtype=torch.int64)),
    "binary_cross_entropy": lambda nn, t, torch: nn.binary_cross_entropy_with_logits(t(4, 1), t(4)),
    "cat": lambda nn, t, torch: torch.cat([t(2, 3), t(2, 4)], dim=0),
    "stack": lambda nn, t, torch: torch.stack([t(2), t(3)]),
    "scaled_dot_product_attention": lambda nn, t, torch: nn.scaled_dot_product_attention(t(2, 4, 8, 16), t(2, 4, 8, 32), t(2, 4, 8, 16)),
    "recurrent": lambda nn, t, torch: torch.nn.LSTM(8, 4).cuda()(t(3, 2, 9)),
}


@pytest.mark.parametrize("name", CASES)
def test_shapes_that_pytorch_would_refuse_are_not_followed(name):
    with Tape().active():
        torch = LIBRARY.load("torch")
        with pytest.raises(NotFollowed, match=r"shape|channels"):
            CASES[name](torch.nn.functional, lambda *sizes, **options: torch.zeros(*sizes, device="cuda", **options), torch)


def test_a_model_of_whose_input_the_shape_was_misread_has_no_estimate():
    found = estimated(small("return self.outer(self.inner(x[:, :32]))"))
    assert found.memory is None
    assert any("linear of tensors of shapes (32, 32) and (64, 64)" in sentence for sentence in found.unknowns)
