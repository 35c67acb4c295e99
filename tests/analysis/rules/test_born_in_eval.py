"""Pretrained models come in evaluation mode: where that makes a difference, and where the fix belongs."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.finding import Finding
from analysis.rule import discover
from analysis.snapshot import Snapshot

WORKER = """
import torch
from transformers import AutoModelForCausalLM

class Critic:
    def __init__(self, path):
        self.model = AutoModelForCausalLM.from_pretrained(path)
        {set_up}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5)

    def forward(self, batch):
        return self.model(**batch).logits

    def update(self, data):
        {before}
        for batch in data:
            loss = self.forward(batch).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


def found(set_up: str, before: str = "") -> list[Finding]:
    snapshot = Snapshot.of({"critic.py": WORKER.format(set_up=set_up, before=before).encode()})
    return list(analyse(snapshot, [rule for rule in discover() if rule.name == "stuck-in-eval"]).findings)


def test_activations_are_computed_anew_in_training_mode_alone():
    (finding,) = found("self.model.gradient_checkpointing_enable()")
    assert "computed anew" in finding.message
    assert finding.fix is None  # the forward may run for evaluations too
    _, forward, trains = finding.evidence
    assert forward.span == finding.span
    assert "train() belongs into this function" in trains.says


@pytest.mark.parametrize(("set_up", "before"), [("pass", ""), ("self.model.gradient_checkpointing_enable()", "self.model.train()")])
def test_no_difference_is_no_mistake(set_up, before):
    assert not found(set_up, before)
