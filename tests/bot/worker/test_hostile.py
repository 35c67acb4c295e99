"""Code that is made to hurt its reader: it is not run, it is named, and the rest is reviewed."""

from __future__ import annotations

from pathlib import Path

from analysis.snapshot import Snapshot
from bot.settings import ServerSettings
from bot.worker.run import run_task
from bot.worker.wire import Task

CLEAN = """\
import torch
from torch import nn

model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
MISTAKEN = CLEAN.replace("    optimizer.zero_grad()\n", "")


async def test_hostile_files_stop_nothing_and_nothing_is_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    planted = f"import torch\nopen({str(canary)!r}, 'w').write('ran')\n".encode()
    hostile = {
        "sitecustomize.py": planted,
        "conftest.py": planted,
        "torch/__init__.py": planted,
        "setup.py": planted,
        "minus.py": b"import torch\nx = " + b"-" * 20_000 + b"1\n",
        "plus.py": b"import torch\nx = 0" + b" + 1" * 9_000 + b"\n",
        "brackets.py": b"import torch\nx = " + b"(" * 50_000 + b"\n",
        "nul.py": b"import torch\x00\n",
        "line.py": b"import torch\nx = '" + b"a" * 1_500_000 + b"'\n",
        "merge.py": b"import torch\n<<<<<<< ours\n",
        "alias.yaml": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(b"%c: &%c [*%c,*%c,*%c,*%c]\n" % ((98 + n,) * 2 + (97 + n,) * 4) for n in range(20)),
        "pyproject.toml": b"[tool.preflight]\nselect = " + b"[" * 5_000,
    }
    base = Snapshot.of({"train.py": CLEAN.encode()}, "b" * 40)
    head = Snapshot.of({"train.py": MISTAKEN.encode(), **hostile}, "a" * 40)
    settings = ServerSettings(app_id=1, private_key="key", webhook_secrets=(b"secret",), state_dir=tmp_path)
    answer = await run_task(Task("review", base, head, {"pyproject.toml": hostile["pyproject.toml"]}, "c" * 40), settings)
    assert isinstance(answer, dict), answer
    review = answer["review"]
    assert "missing-zero-grad" in {finding["rule"] for finding in review["introduced"]}
    assert {"minus.py", "brackets.py", "nul.py", "merge.py"} <= {remark["path"] for remark in review["not_analysed"]}
    assert any("configuration of the base branch is not used" in problem for problem in review["problems"])
    assert not canary.exists()
