"""Hooks of OpenMMLab's runners: an imagined runner calls those of a change, with as many arguments as they take."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.program import trace_program
from analysis.rules import missing_zero_grad, retained_graph
from analysis.snapshot import Snapshot

KEEPING = """
from mmengine.hooks import Hook

class Keep(Hook):
    def __init__(self, interval=None):
        self.losses = []
        self.interval = interval

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        if self.interval is None or (batch_idx + 1) % self.interval != 0:
            return
        self.losses.append(outputs["loss"]{how})
"""
STEPPING = """
from mmcv.runner import HOOKS, Hook

@HOOKS.register_module()
class Step(Hook):
    def after_train_iter(self, runner):
        {first}
        runner.outputs["loss"].backward()
        runner.optimizer.step()
"""


def _said(rule, code):
    snapshot = Snapshot.of({"hook.py": code.encode()})
    return [each for trace in trace_program(snapshot, index(snapshot), ["hook.py"], ["hook.py"]) for each in rule.check(trace)]


@pytest.mark.parametrize(("how", "kept"), [("", True), (".item()", False)])
def test_what_a_hook_keeps_of_each_batch_is_seen(how, kept):
    assert bool(_said(retained_graph.RULE, KEEPING.format(how=how))) is kept


@pytest.mark.parametrize(("first", "missing"), [("pass", True), ("runner.optimizer.zero_grad()", False)])
def test_a_hook_that_steps_is_the_only_one(first, missing):
    assert bool(_said(missing_zero_grad.RULE, STEPPING.format(first=first))) is missing
