"""A finding whose cause may be a change elsewhere names the places where that change can stand."""

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

SAVING = """
import torch

def save_checkpoint(state, path):
    torch.save(state, path)
"""
TRAINING = """
import torch
from saving import save_checkpoint

def main(net, loader, sampler):
    torch.distributed.init_process_group("nccl")
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            optimizer.zero_grad()
            ddp(x).mean().backward()
            optimizer.step()
        save_checkpoint(net.state_dict(), "net.pt")  # every rank
"""


def test_a_save_in_a_helper_names_the_call_that_every_rank_makes():
    rules = [rule for rule in discover() if rule.name == "every-rank-checkpoint"]
    snapshot = Snapshot.of({"train.py": TRAINING.encode(), "saving.py": SAVING.encode()})
    (finding,) = analyse(snapshot, rules).findings
    assert finding.span.path == "saving.py"
    line = next(number for number, line in enumerate(TRAINING.splitlines(), 1) if "# every rank" in line)
    assert ("train.py", line) in [(each.span.path, snapshot.source(each.span.path).position(each.span).line) for each in finding.evidence]


PENALISED = """
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for x in torch.utils.data.DataLoader(torch.rand(64, 4)):
    x.requires_grad_()
    out = net(x).sum()
    slope = torch.autograd.grad(out, x, create_graph=True)[0]
    loss = out + slope.norm()
    optimizer.zero_grad()
    loss.backward()  # ends the graph
    optimizer.step()
    total += loss
print(total)
"""


def test_gradients_that_go_on_into_the_loss_are_not_where_its_graph_ends():
    rules = [rule for rule in discover() if rule.name == "retained-graph"]
    snapshot = Snapshot.of({"train.py": PENALISED.encode()})
    (finding,) = analyse(snapshot, rules).findings
    line = next(number for number, line in enumerate(PENALISED.splitlines(), 1) if "# ends the graph" in line)
    assert snapshot.source("train.py").position(finding.evidence[-1].span).line == line
