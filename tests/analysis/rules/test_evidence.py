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
