"""What an argument that nobody passes turns out to be."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.program import trace_program
from analysis.library.rehearsal import SHORT
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind


def roles_of(code: str) -> dict[str, str]:
    snapshot = Snapshot.of({"train.py": code.encode()})
    found = run(snapshot, index(snapshot), Entry("train.py", "train"), World(collecting=True), {}, SHORT)
    assert found is not None
    return {why: role.cls for (why, _), role in found.domain.casting.solve().items()}


@pytest.mark.parametrize(
    ("body", "name", "role"),
    [
        ("x.train(); x(1); torch.optim.SGD(x.parameters())", "x", "unknown.Model"),
        ("x.zero_grad(); x.step()", "x", "torch.optim.Optimizer"),
        ("x.step(); print(x.get_last_lr())", "x", "torch.optim.lr_scheduler.LRScheduler"),
        ("x.scale(1).backward(); x.step(1); x.update()", "x", "torch.amp.GradScaler"),
        ("x.prepare(1); x.backward(1)", "x", "accelerate.Accelerator"),
        ("x.setup(1); x.backward(1)", "x", "lightning.fabric.Fabric"),
        ("from accelerate import Accelerator\n    y = Accelerator().prepare(x.loader())\n    for batch in y: pass", "loader(…)", "torch.utils.data.DataLoader"),
        ("len(x)\n    for batch in x: pass", "x", "torch.utils.data.DataLoader"),
        ("for a, b in x: torch.nn.Linear(2, 2)(a)", "x", "torch.utils.data.DataLoader"),
        ("for a in x: a['ids'].to(1)", "x", "torch.utils.data.DataLoader"),
        ("torch.nn.ModuleList([x])", "x", "unknown.Model"),
        ("torch.nn.functional.mse_loss(x(torch.ones(1)), 1).backward()", "x", "unknown.Model"),
        ("x.zero_grad(); torch.amp.GradScaler().step(x)", "x", "torch.optim.Optimizer"),
        ("x.net.eval(); x.net(1)", "x.net", "unknown.Model"),
    ],
)
def test_uses_tell_the_role(body: str, name: str, role: str):
    assert roles_of(f"import torch\ndef train(x):\n    {body}\n").get(name) == role


@pytest.mark.parametrize("body", ["x(1)", "x.step()", "for item in x: pass", "for item in x: item.to(1)", "print(x.lr)"])
def test_too_little_use_tells_nothing(body: str):
    assert "x" not in roles_of(f"def train(x):\n    {body}\n")


def test_where_a_schedule_steps_its_name_says_the_same():
    assert roles_of("def train(lr_scheduler, meter):\n    lr_scheduler.step()\n    meter.step()\n") == {"lr_scheduler": "torch.optim.lr_scheduler.LRScheduler"}


def test_an_annotation_tells_it_alone():
    roles = roles_of(
        "from torch import nn\nfrom typing import Optional\ndef train(a: nn.Module, b: 'Optional[torch.optim.Optimizer]', c: L.Fabric):\n    pass\n"
    )
    assert roles == {"a": "unknown.Model", "b": "torch.optim.Optimizer", "c": "lightning.fabric.Fabric"}


def test_a_name_alone_tells_nothing():
    assert roles_of("def train(model, optimizer, loader):\n    print(model, optimizer, loader)\n") == {}


def test_objects_whose_role_was_solved_are_assumed():
    code = "import torch\ndef train(model, optimizer):\n    model.train()\n    optimizer.zero_grad()\n    model(1).sum().backward()\n    optimizer.step()\n"
    snapshot = Snapshot.of({"train.py": code.encode()})
    (trace,) = trace_program(snapshot, index(snapshot), ["train.py"])
    step, *_ = trace.events(Kind.STEP)
    mode, *_ = trace.events(Kind.TRAIN_MODE)
    assert step.subject.assumed
    assert mode.subject.assumed


@pytest.mark.parametrize(("asked", "wrapped"), [("", True), ("    model.val_step(1)\n", False)])
def test_what_has_methods_of_its_own_is_no_wrapper(asked, wrapped):
    code = (
        "import torch\ndef train(model, optimizer, loader):\n    model.train()\n    for x in loader:\n        optimizer.zero_grad()\n"
        f"        model(x).sum().backward()\n        optimizer.step()\n{asked}    torch.save(model.module.state_dict(), 'last.pt')\n"
    )
    snapshot = Snapshot.of({"train.py": code.encode()})
    trace, *_ = trace_program(snapshot, index(snapshot), ["train.py"])
    assert any(True for _ in trace.events(Kind.WRAPPED_FORWARD)) is wrapped
