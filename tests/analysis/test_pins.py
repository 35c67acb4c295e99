"""What a repository asks for is read from its requirement files."""

import pytest

from analysis.pins import asks_below
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
