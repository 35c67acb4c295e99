"""How grave a finding is depends on how far it goes."""

import pytest

from analysis.engine import analyse
from analysis.finding import Severity
from analysis.rule import discover
from analysis.snapshot import Snapshot

COLLECTS = """
import torch

def sample(generator, codes, save):
    generator.eval()
    images = []
    for kind in {source}:
        images.append(generator(codes[kind]))
    save(torch.cat(images))
    generator.train()

def train(generator, loader, codes, save):
    optimizer = torch.optim.Adam(generator.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(generator(x), y).backward()
        optimizer.step()
        sample(generator, codes, save)
"""


@pytest.mark.parametrize(("source", "severity"), [("codes.keys()", Severity.ERROR), ("range(10)", Severity.WARNING), ("range(1000)", Severity.ERROR)])
def test_what_a_short_loop_collects_is_a_warning(source, severity):
    rules = [rule for rule in discover() if rule.name == "evaluation-with-grad"]
    report = analyse(Snapshot.of({"train.py": COLLECTS.format(source=source).encode()}), rules)
    assert [finding.severity for finding in report.findings] == [severity]


READS = """
import torch

def train(net, loader, parts):
    net.cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        losses = {{"a": torch.nn.functional.mse_loss(net(x.cuda()), y.cuda()), "b": net(x.cuda()).mean()}}
        optimizer.zero_grad()
        (losses["a"] + losses["b"]).backward()
        optimizer.step()
        for name, value in losses.items():
            print(name, {read})
"""


@pytest.mark.parametrize(("read", "severity"), [("value.item()", Severity.NOTICE), ("(value * 2).item()", Severity.WARNING)])
def test_of_values_that_are_ready_only_the_first_read_waits(read, severity):
    rules = [rule for rule in discover() if rule.name == "sync-in-hot-loop"]
    report = analyse(Snapshot.of({"train.py": READS.format(read=read).encode()}), rules)
    assert [finding.severity for finding in report.findings] == [severity]


SAVES = """
from accelerate import Accelerator, FullyShardedDataParallelPlugin

def train(model, loader, optimizer):
    accelerator = Accelerator({options})
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (x, y) in enumerate(loader):
        accelerator.backward((model(x) - y).pow(2).mean())
        optimizer.step()
        optimizer.zero_grad()
        if accelerator.is_main_process:
            accelerator.save_state("out")
"""


@pytest.mark.parametrize(("options", "severity"), [("", Severity.WARNING), ("fsdp_plugin=FullyShardedDataParallelPlugin()", Severity.ERROR)])
def test_a_guarded_save_hangs_where_the_model_is_sharded(options, severity):
    rules = [rule for rule in discover() if rule.name == "guarded-sharded-save"]
    report = analyse(Snapshot.of({"train.py": SAVES.format(options=options).encode()}), rules)
    assert [finding.severity for finding in report.findings] == [severity]


SCORED = """
import torch
from torch.nn import functional as F

def train(loader, held_out):
    net = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        {trained}(net(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        for x, y in held_out:
            print(F.nll_loss(net(x), y))
"""


@pytest.mark.parametrize(("trained", "severities"), [("F.cross_entropy", [Severity.WARNING]), ("F.nll_loss", [Severity.ERROR, Severity.WARNING])])
def test_a_wrong_loss_that_is_only_measured_is_a_warning(trained, severities):
    rules = [rule for rule in discover() if rule.name == "nll-without-log"]
    report = analyse(Snapshot.of({"train.py": SCORED.format(trained=trained).encode()}), rules)
    assert [finding.severity for finding in report.findings] == severities


SEVERAL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        scores = self.head(x)
        return scores.softmax(1), scores

def train(loader):
    net, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x){one}, y).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("one", "found"), [("", 0), ("[0]", 1), ("[1]", 0)])
def test_several_outputs_at_once_are_no_probabilities(one, found):
    rules = [rule for rule in discover() if rule.name == "double-softmax"]
    assert len(analyse(Snapshot.of({"train.py": SEVERAL.format(one=one).encode()}), rules).findings) == found
