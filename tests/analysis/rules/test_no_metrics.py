"""What is no metric of an evaluation: losses that are learnt from, samples that are shown.

A batch that only a frozen encoder takes whole, without gradients, is still one that the model learns from: its loss is no metric.
"""

from __future__ import annotations

import pytest

from analysis.engine import analyse
from analysis.rules import local_metric
from analysis.snapshot import Snapshot

PROGRAM = """
import torch
from accelerate import Accelerator

def main(encoder, model, data):
    accelerator = Accelerator(log_with="tensorboard")
    encoder.requires_grad_(False)
    encoder.eval()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(data, batch_size=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (images, target) in enumerate(loader):
        with torch.no_grad():
            latents = encoder(images)
        weight = torch.nn.functional.mse_loss(latents, target)
        loss = model(torch.randn(8, 4)).mean() * weight
        {learn}
        accelerator.log({{"loss": loss.detach().item()}}, step=step)
"""


@pytest.mark.parametrize(
    ("learn", "found"), [("accelerator.backward(loss)\n        optimizer.step()\n        optimizer.zero_grad()", False), ("loss = weight", True)]
)
def test_what_is_learnt_from_is_not_evaluated(learn, found):
    report = analyse(Snapshot.of({"train.py": PROGRAM.format(learn=learn).encode()}), [local_metric.RULE])
    assert bool(report.findings) is found


SHOWN = """
import torch
from accelerate import Accelerator
from torch.utils.tensorboard import SummaryWriter

def main(model, rows, held_out):
    accelerator = Accelerator()
    writer = SummaryWriter("runs")
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader, evaluation = accelerator.prepare(
        model, optimizer, torch.utils.data.DataLoader(rows), torch.utils.data.DataLoader(held_out)
    )
    for x in loader:
        accelerator.backward(model(x).mean())
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        for x in evaluation:
            writer.{shown}("sample", model(x).{what}, 0)
"""


@pytest.mark.parametrize(("shown", "what", "found"), [("add_audio", "cpu().numpy()", False), ("add_scalar", "mean().item()", True)])
def test_samples_are_no_metrics(shown, what, found):
    report = analyse(Snapshot.of({"train.py": SHOWN.format(shown=shown, what=what).encode()}), [local_metric.RULE])
    assert bool(report.findings) is found
