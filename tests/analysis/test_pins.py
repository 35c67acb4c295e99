"""What a repository asks for is read from its requirement files."""

import pytest

from analysis.pins import asks_below, runs_below
from analysis.snapshot import Snapshot


@pytest.mark.parametrize(
    ("requirements", "below"),
    [
        ("torch==0.4.1\n", True),
        ("numpy\nTorch<1.1  # old schedulers\n", True),
        ("torch[opt]>=0.4,<=1.0.1; python_version < '3.8'\n", True),
        ("torch==1.1\n", False),
        ("torch<=1.1\n", False),
        ("torch>=0.4\n", False),
        ("torchvision==0.2\n", False),
        ("# torch==0.4\n", False),
        ("", False),
    ],
)
def test_asks_below(requirements, below):
    assert asks_below(Snapshot.of({"requirements.txt": requirements.encode()}), "torch", (1, 1)) is below


def test_one_newer_requirement_is_enough_to_doubt():
    snapshot = Snapshot.of({"requirements.txt": b"torch==0.4\n", "docs/requirements.txt": b"torch==2.1\n", "train.py": b"torch==0.4"})
    assert not asks_below(snapshot, "torch", (1, 1))


@pytest.mark.parametrize(
    ("path", "text", "below"),
    [
        ("requirements.txt", "torch>=1.6\n", True),
        ("setup.py", 'assert torch_ver >= [1, 6], "Requires PyTorch >= 1.6"\n', True),
        ("pyproject.toml", 'dependencies = ["torch ~= 1.8.1"]\n', True),
        ("setup.py", 'install_requires=["torch>=1.9"]\n', False),
        ("setup.py", 'install_requires=["torchvision>=0.5"]\n', False),
        ("train.py", "# PyTorch >= 1.0\n", False),
    ],
)
def test_runs_below(path, text, below):
    assert runs_below(Snapshot.of({path: text.encode()}), "torch", (1, 9)) is below
