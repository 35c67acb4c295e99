"""CTC makes and keeps, beside its input, two places a letter and one more for each frame, and makes as many again in backward."""

from __future__ import annotations

import pytest

from estimator.tape.events import Allocated
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library

FRAMES, TEXTS, LETTERS, CLASSES = 1024, 8, 64, 32
ALPHA = TEXTS * FRAMES * (2 * LETTERS + 1) * 4


@pytest.mark.parametrize("shape", [(TEXTS * LETTERS,), (TEXTS, LETTERS)])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_what_the_loss_keeps_and_makes(shape, reduction):
    tape = Tape()
    with tape.active():
        torch = Library().load("torch")
        logs = torch.zeros((FRAMES, TEXTS, CLASSES), device="cuda", requires_grad=True)
        targets = torch.zeros(shape, dtype=torch.int64, device="cuda")
        start = len(tape.events)
        lengths = torch.full((TEXTS,), FRAMES), torch.full((TEXTS,), LETTERS)
        loss = torch.nn.CTCLoss(reduction=reduction)(logs, targets, *lengths)
        assert loss.shape == (() if reduction == "mean" else (TEXTS,))
        assert [event.size for event in tape.events[start:] if isinstance(event, Allocated) and event.size > 512] == [ALPHA]
        start = len(tape.events)
        loss.sum().backward()
        assert [event.size for event in tape.events[start:] if isinstance(event, Allocated) and event.size > 512] == [ALPHA, FRAMES * TEXTS * CLASSES * 4]
        assert logs.grad.shape == logs.shape
