"""Seeds that workers draw from a state which all of them were given: a mistake with old releases of PyTorch alone."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rule import discover
from analysis.snapshot import Snapshot

PROGRAM = """
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

def seed_all(seed):
    np.random.seed(seed)
    random.seed(seed)

def init(worker_id):
    seed_all({seed})

if __name__ == "__main__":
    for (x,) in DataLoader(TensorDataset(torch.zeros(8, 2)), num_workers=4, worker_init_fn=init):
        print(x.sum())
"""


def reported(seed: str, manifest: str) -> list[str]:
    files = {"train.py": PROGRAM.format(seed=seed).encode(), "setup.py": manifest.encode()}
    snapshot = Snapshot.of(files)
    report = analyse(snapshot, [rule for rule in discover() if rule.name == "worker-rng-copies"])
    return [snapshot.source("train.py").text(finding.span) for finding in report.findings]


OLD = 'setup(install_requires=["torch>=1.6"])'


@pytest.mark.parametrize("seed", ["np.random.randint(2 ** 31)", "np.random.get_state()[1][0]"])
def test_a_seed_from_the_copied_state(seed):
    (found,) = reported(f"{seed} + worker_id", OLD)
    assert seed.startswith(found)


@pytest.mark.parametrize(("seed", "manifest"), [
    ("torch.initial_seed() % 2 ** 31 + worker_id", OLD),
    ("np.random.randint(2 ** 31) + worker_id", 'setup(install_requires=["torch>=2.0"])'),
    ("np.random.randint(2 ** 31) + worker_id", "setup()"),
])  # fmt: skip
def test_other_seeds_and_newer_releases(seed, manifest):
    assert not reported(seed, manifest)
