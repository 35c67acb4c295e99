"""Files that never name PyTorch and yet start a training."""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.index import index
from analysis.library.program import MOST_LAUNCHERS, Tracing
from analysis.rules import missing_zero_grad
from analysis.scope import scope_of
from analysis.snapshot import Snapshot

FILES = {
    "models.py": """
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = torch.nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x).mean()

def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)
""",
    "trainers/__init__.py": "",
    "trainers/plain.py": """
from models import Model, optimizer_of

class Plain:
    def __init__(self, width):
        self.model = Model(width)
        self.optimizer = optimizer_of(self.model)

    def one_step(self, x):
        self.model(x).backward()
        self.optimizer.step()
""",
    "rows.py": "def rows():\n    return [[1.0] * 8 for _ in range(100)]\n",
    "train.py": """
from trainers import (
    plain,
)
from rows import rows

if __name__ == "__main__":
    training = plain.Plain(8)
    for row in rows():
        training.one_step(row)
""",
    "serve.py": "from models import Model\n\nif __name__ == '__main__':\n    print(Model(8))\n",
}


def _snapshot(**changed):
    return Snapshot.of({name: text.encode() for name, text in {**FILES, **changed}.items()})


def test_what_starts_a_training_is_looked_at():
    facts = index(_snapshot()).facts
    assert {"train.py", "trainers/plain.py", "rows.py"} <= facts.keys()
    assert "serve.py" not in facts


def test_the_training_is_followed_from_there():
    report = analyse(_snapshot(), [missing_zero_grad.RULE])
    [finding] = report.findings
    assert (finding.rule, finding.span.path) == ("missing-zero-grad", "trainers/plain.py")


@pytest.mark.parametrize(
    "imports",
    [
        "import trainers.plain as plain",
        "from trainers.plain import Plain as _, Plain\nfrom trainers import plain",
        "import os, trainers.plain\nplain = trainers.plain",
    ],
)
def test_however_it_imports(imports):
    train = FILES["train.py"].replace("from trainers import (\n    plain,\n)", imports)
    assert "train.py" in index(_snapshot(**{"train.py": train})).facts


@pytest.mark.parametrize(
    ("changed", "entries"), [("rows.py", {"rows.py", "train.py"}), ("serve.py", set()), ("trainers/plain.py", {"trainers/plain.py", "train.py"})]
)
def test_a_change_reaches_what_starts_the_training(changed, entries):
    head = _snapshot(**{changed: FILES[changed] + "\nSEED = 1\n"})
    assert scope_of(_snapshot(), head).entries == entries


@pytest.mark.parametrize(("more", "found"), [("", False), ("settings = undefined\n", True)])
def test_what_is_started_without_all_it_needs_is_run_by_itself_too(more, found):
    plain = FILES["trainers/plain.py"].replace("def __init__(self, width):", "def __init__(self, width, clears=False):\n        self.clears = clears")
    plain = plain.replace("        self.optimizer.step()", "        self.optimizer.step()\n        if self.clears:\n            self.optimizer.zero_grad()")
    train = FILES["train.py"].replace("plain.Plain(8)", "plain.Plain(8, clears=True)").replace("import rows\n", f"import rows\n{more}")
    report = analyse(_snapshot(**{"trainers/plain.py": plain, "train.py": train}), [missing_zero_grad.RULE])
    assert bool(report.findings) is found


def test_where_many_start_trainings_they_come_last():
    many = {f"start_{number}.py": FILES["train.py"] for number in range(MOST_LAUNCHERS)}
    script = "import torch\nfrom models import Model\n\nif __name__ == '__main__':\n    Model(8)(torch.zeros(8)).backward()\n"
    for files, place in (({"z_last.py": script}, 1), ({**many, "z_last.py": script}, 0)):
        snapshot = _snapshot(**files)
        due = [entry.path for entry in Tracing(snapshot, index(snapshot), snapshot.contents).due() if not entry.qualname]
        assert due.index("z_last.py") == place


def test_of_a_change_what_starts_it_elsewhere_comes_last_unless_it_is_the_one():
    script = "import torch\nfrom models import Model\n\nif __name__ == '__main__':\n    Model(8)(torch.zeros(8)).backward()\n"
    snapshot = _snapshot(**{"start.py": FILES["train.py"], "z_last.py": script})
    for changed, first in ((["models.py"], "z_last.py"), (["start.py", "models.py"], "start.py")):
        tracing = Tracing(snapshot, index(snapshot), snapshot.contents, changed)
        assert next(entry.path for entry in tracing.due() if not entry.qualname) == first
