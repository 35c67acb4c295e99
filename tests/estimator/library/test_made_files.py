"""Files that another script of the repository makes are what that one saves."""

from __future__ import annotations

import pytest

from tests.estimator.script.running import estimated

TRAIN = """
import pickle
import numpy as np
import torch
from torch import nn

table = torch.as_tensor({load})
model = nn.Linear(table.shape[1], 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    model(table.float().cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
MAKE = """
import pickle
import numpy as np
import torch

def main():
    table = np.zeros((48, 12))
    {save}

if __name__ == "__main__":
    main()
"""
PAIRS = [
    ("torch.load('data/table.pt')", "torch.save(torch.from_numpy(table), open('data/table.pt', 'wb'))"),
    ("np.load('table.npy')", "np.save('table.npy', table)"),
    ("pickle.load(open('table.pkl', 'rb'))", "pickle.dump(table, open('table.pkl', 'wb'))"),
]


@pytest.mark.parametrize(("load", "save"), PAIRS)
def test_what_was_saved_is_loaded(load: str, save: str):
    found = estimated({"code/train.py": TRAIN.format(load=load), "code/make.py": MAKE.format(save=save)}, entry="code/train.py")
    assert found.memory.parameters == 12 * 4 + 4
    assert found.config.batch_size.value == 48
    assert any("another script" in sentence for sentence in found.unknowns)


def test_what_nobody_makes_is_not_known():
    load, save = PAIRS[0]
    files = {"code/train.py": TRAIN.format(load=load), "other/make.py": MAKE.format(save=save)}
    assert estimated(files, entry="code/train.py").memory is None


def test_a_script_that_trains_makes_no_data():
    load, save = PAIRS[0]
    trains = MAKE.format(save=save).replace("    main()", "    main()\n    torch.zeros(1).backward()")
    assert estimated({"code/train.py": TRAIN.format(load=load), "code/make.py": trains}, entry="code/train.py").memory is None


def test_a_script_that_only_loads_it_makes_nothing():
    load, _ = PAIRS[0]
    reads = MAKE.format(save="print(torch.load('data/table.pt'))")
    found = estimated({"code/train.py": TRAIN.format(load=load), "code/look.py": reads}, entry="code/train.py")
    assert not any("look.py" in sentence for sentence in found.unknowns)
