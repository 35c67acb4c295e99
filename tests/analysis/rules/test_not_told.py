"""What code that is not at hand may do, and how often things happen that are rehearsed less often than they do."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.finding import Confidence, Finding, Severity
from analysis.rule import discover
from analysis.snapshot import Snapshot

KEEPING = """
import torch
from elsewhere import Task, score

def train(loader):
    task = Task()
    optimizer = torch.optim.SGD(task.parameters(), lr=0.1)
    kept = []
    for batch in loader:
        optimizer.zero_grad()
        result = task.{forward}(batch)
        result.loss.backward()
        optimizer.step()
        {keep}
    print(len(kept))
"""
CLEARING = """
import torch

def train(model, loader, optimizer, after=None):
    model.train()
    for x, y in loader:
        {clear}
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        if after is not None:
            after(model=model)
"""
BY_GROUPS = """for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = None"""
READING = """
import torch

def train(net, loader, every=1, terms={terms}):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    shown = 0.0
    for i, (x, y) in enumerate(loader):
        out = net(x.cuda())
        if (i + 1) % every == 0:
            optimizer.zero_grad()
            for term in range(7):
                if term < terms:
                    loss = torch.nn.functional.mse_loss(out, y.cuda())
                    shown += loss.item()
                    loss.backward(retain_graph=True)
            out.square().mean().backward()
            optimizer.step()
    print(shown)
"""
SUMMED = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from elsewhere import build

def train(loader):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(build().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        {outputs}
        summed = {summed}
        dist.all_reduce(summed)
        optimizer.zero_grad()
        (loss * summed).sum().backward()
        optimizer.step()
"""
WINDOW = """
import torch

def train(net, loader, window):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    done = 0
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()
        done += 1
        if done % {window} == 0:
            optimizer.step()
            optimizer.zero_grad()
"""


def found(program: str, rule: str) -> list[Finding]:
    report = analyse(Snapshot.of({"train.py": program.encode()}), [each for each in discover() if each.name == rule])
    assert not report.problems
    return [each for each in report.findings if each.confidence >= Confidence.MEDIUM]


@pytest.mark.parametrize(
    ("forward", "keep", "alarms"),
    [
        ("train_step", "kept.append(result.loss)", 1),
        ("train_step", "kept.append(result.logits)", 1),
        ("train_step", "kept.append(result.light())", 0),
        ("__call__", "kept.append(task(batch)[0])", 1),
        ("__call__", "error, chosen = task.judge(batch); kept.append(error)", 0),
        ("__call__", "kept.append(task.judge(batch))", 1),
        ("__call__", "kept.append(score({'given': result.logits})['area'])", 0),
        ("__call__", "kept.append(score(result.logits) + result.loss)", 1),
    ],
)
def test_what_methods_from_elsewhere_give_besides_the_loss_may_be_without_a_graph(forward, keep, alarms):
    assert len(found(KEEPING.format(forward=forward, keep=keep), "retained-graph")) == alarms


@pytest.mark.parametrize(("clear", "alarms"), [("optimizer.param_groups[0]['lr'] = 0.1", 1), (BY_GROUPS, 0)])
def test_the_groups_of_an_optimizer_that_was_passed_in_hold_its_parameters(clear, alarms):
    assert len(found(CLEARING.format(clear=clear), "missing-zero-grad")) == alarms


@pytest.mark.parametrize(("terms", "often"), [(1, Severity.NOTICE), (2, Severity.WARNING)])
def test_a_loop_that_comes_to_a_read_once_waits_once(terms, often):
    (finding,) = found(READING.format(terms=terms), "sync-in-hot-loop")
    assert finding.severity is often


@pytest.mark.parametrize(("window", "times"), [("50", "50 times"), ("4", "4 times"), ("window", "several times")])
def test_a_window_is_as_long_as_the_source_says(window, times):
    (finding,) = found(WINDOW.format(window=window), "unscaled-accumulation")
    assert times in finding.message


@pytest.mark.parametrize(
    ("outputs", "summed", "alarms"),
    [("loss, weight = model(batch)", "weight", 0), ("loss = model(batch).mean()", "model(batch)", 1), ("loss, weight = model(batch)", "loss.exp()", 1)],
)
def test_a_weight_that_comes_with_the_loss_may_be_a_plain_count(outputs, summed, alarms):
    assert len(found(SUMMED.format(outputs=outputs, summed=summed), "gather-without-grad")) == alarms


CARRIED = """
import torch
from collections import defaultdict
from elsewhere import build

def train(loader):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    carried = {begun}
    for x in loader:
        optimizer.zero_grad()
        loss, carried = model(x, carried)
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("begun", "alarms"), [("defaultdict(list)", 0), ("[]", 0), ("torch.zeros(1, 4)", 1), ("[torch.zeros(1), torch.zeros(1)]", 1), ("None", 1)]
)
def test_a_table_that_a_model_writes_to_is_no_state(begun, alarms):
    assert len(found(CARRIED.format(begun=begun), "hidden-state-graph")) == alarms
