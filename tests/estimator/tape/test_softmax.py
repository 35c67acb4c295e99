"""Softmax into float32: from float16 one kernel does it on the GPU, both ways; from bfloat16 a copy is made first."""

from __future__ import annotations

import pytest

from estimator.tape.events import Allocated
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library


@pytest.mark.parametrize(("dtype", "made", "gradient"), [("float16", 1, 2), ("bfloat16", 2, 4), ("float32", 1, 4)])
def test_what_softmax_into_float32_makes(dtype, made, gradient):
    tape = Tape()
    with tape.active():
        torch = Library().load("torch")
        x = torch.zeros((64, 1024), dtype=getattr(torch, dtype), device="cuda", requires_grad=True)
        start = len(tape.events)
        out = torch.nn.functional.softmax(x, dim=-1, dtype=torch.float32)
        sizes = [event.size for event in tape.events[start:] if isinstance(event, Allocated)]
        assert sizes == [64 * 1024 * 4] * made
        given = torch.zeros_like(out)
        start = len(tape.events)
        out.backward(given)
        after = [event.size for event in tape.events[start:] if isinstance(event, Allocated)]
        assert after[:2] == [64 * 1024 * gradient, 64 * 1024 * 4]  # the gradient, then the product that the kernel makes for a moment
        assert x.grad.dtype == x.dtype
