"""A trainer that brings its own step of an evaluation has to turn gradients off itself."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import evaluation_with_grad
from analysis.snapshot import Snapshot

PROGRAM = """
import contextlib
import torch
from transformers import Trainer

class Ranked(Trainer):
    def __init__(self, model=None, args=None, train_dataset=None, eval_dataset=None):
        super().__init__(model=model, args=args, train_dataset=train_dataset, eval_dataset=eval_dataset)

    def compute_loss(self, model, inputs, return_outputs=False, **options):
        better, worse = model(**inputs["better"])[0], model(**inputs["worse"])[0]
        loss = -torch.nn.functional.logsigmoid(better - worse).mean()
        return (loss, {{"better": better}}) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        with {context}:
            loss, parts = self.compute_loss(model, inputs, return_outputs=True)
        return loss.detach(), parts["better"].detach(), None
"""


@pytest.mark.parametrize(("context", "found"), [("contextlib.nullcontext()", True), ("torch.no_grad()", False)])
def test_a_step_of_the_evaluation_turns_gradients_off(context, found):
    report = analyse(Snapshot.of({"ranked.py": PROGRAM.format(context=context).encode()}), [evaluation_with_grad.RULE])
    assert [finding.rule for finding in report.findings] == ["evaluation-with-grad"] * found
