"""A condition on a number that is called a rank keeps the other ranks out, also where this run has it as a constant."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import every_rank_checkpoint
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
import torch.distributed as dist

class Settings:
    LOCAL_RANK = 0

def save(net, {argument}):
    {guard}torch.save(net.state_dict(), "last.pt")

def main(net, rows):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
        dist.all_reduce(x)
    save(net, Settings.LOCAL_RANK)

def prepare(options):
    options.saves_logs = options.logs and dist.get_rank() == 0
    options.saves_all = bool(options.logs)
"""


@pytest.mark.parametrize(
    ("argument", "guard", "found"),
    [
        ("rank", "if rank == 0:\n        ", False),
        ("rank", "if rank != 0:\n        return\n    ", False),
        ("rank", "", True),
        ("number", "if number == 0:\n        ", True),
        ("number", "saves = Settings.LOCAL_RANK in (-1, 0)\n    if saves:\n        ", False),
        ("number", "saves = number in (-1, 0)\n    if saves:\n        ", True),
        ("options", "if options.saves_logs:\n        ", False),
        ("options", "if options.saves_all:\n        ", True),
        ("fabric", "if fabric is None:\n        ", False),
        ("fabric", "if fabric is not None:\n        ", True),
        ("world_size", "if world_size > 1:\n        print(world_size)\n    else:\n        ", False),
    ],
)
def test_called_a_rank(argument, guard, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(argument=argument, guard=guard).encode()}), [every_rank_checkpoint.RULE])
    assert bool(report.findings) is found


PREPARED = """
import torch
from accelerate import Accelerator
from transformers import AutoModel

def main(rows):
    accelerator = Accelerator()
    model = AutoModel.from_pretrained("base")
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(rows))
    model.train()
    for x in loader:
        accelerator.backward(model(x).loss)
        optimizer.step()
        optimizer.zero_grad()
        torch.distributed.all_reduce(x)
    {save}

if __name__ == "__main__":
    main(torch.load("rows.pt"))
"""


@pytest.mark.parametrize(
    ("save", "found"), [('model.save_pretrained("out")', False), ('torch.save(accelerator.unwrap_model(model).state_dict(), "out.pt")', True)]
)
def test_only_a_sharded_model_saves_itself_when_it_is_prepared(save, found):
    report = analyse(Snapshot.of({"train.py": PREPARED.format(save=save).encode()}), [every_rank_checkpoint.RULE])
    assert bool(report.findings) is found


CONFIGURED = """
import hydra
import torch

@hydra.main(config_path="conf", config_name="train")
def main(cfg):
    torch.distributed.init_process_group("nccl")
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=cfg.lr)
    for x in torch.load("rows.pt"):
        optimizer.zero_grad()
        net(x).mean().backward()
        torch.distributed.all_reduce(net.weight.grad)
        optimizer.step()
    saves = cfg.{name} in [-1, 0]
    if saves:
        torch.save(net.state_dict(), "out.pt")

main()
"""


@pytest.mark.parametrize(("name", "found"), [("local_rank", False), ("fold", True)])
def test_the_local_rank_of_a_configuration_is_set_by_the_launcher(name, found):
    files = {"train.py": CONFIGURED.format(name=name), "conf/train.yaml": f"lr: 0.1\n{name}: -1\n"}
    report = analyse(Snapshot.of({path: text.encode() for path, text in files.items()}), [every_rank_checkpoint.RULE])
    assert bool(report.findings) is found
