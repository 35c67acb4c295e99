"""A tiny repository in git, and a corpus that lists it."""

import subprocess

import pytest

from corpus.manifest import Repository

TRAIN = """import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
LOAD = """import torch

def resume(path, model):
    return model.load_state_dict(torch.load(path))
"""


def git(folder, *words):
    identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path):
    """A folder that holds the repository ``owner/name``, as ``python -m corpus`` is given it."""
    folder = tmp_path / "root" / "owner+name" / "repo"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "train.py").write_text(TRAIN)
    (folder / "load.py").write_text(LOAD)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Train")
    return tmp_path / "root"


@pytest.fixture
def repository(root):
    return Repository("owner/name", git(root / "owner+name" / "repo", "rev-parse", "HEAD"), "plain PyTorch", "small enough to read")


@pytest.fixture
def folder(tmp_path, repository):
    """A corpus that lists the repository and has no labels yet."""
    made = tmp_path / "corpus"
    made.mkdir()
    lines = (f"name = {repository.name!r}", f"commit = {repository.commit!r}", f"kind = {repository.kind!r}", f"why = {repository.why!r}")
    (made / "manifest.toml").write_text("\n".join(("[[repository]]", *lines)))
    return made
