"""Lightning's trainer and TRL's: what they configure, and what a step of theirs holds."""

from __future__ import annotations

import pytest

from analysis.certainty import Assumed, Place
from estimator.catalog import gpu
from estimator.estimate import Verdict
from estimator.fit import fit
from tests.estimator.script.running import estimated, line_of

LIGHTNING = """
import {package} as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Module(pl.LightningModule):
    def __init__(self, width=512, depth=3, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(*[nn.Linear(self.hparams.width, self.hparams["width"]) for _ in range(self.hparams.depth)])

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def train_dataloader(self):
        return DataLoader(TensorDataset(torch.randn(640, 512), torch.randn(640, 512)), batch_size=64)

    def configure_optimizers(self):
        optimizer = torch.optim.{optimizer}(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 10)]

pl.Trainer(
    max_epochs=2,
    {options}
).fit(Module())
"""
PARAMETERS = 3 * (512 * 512 + 512)


def script(package: str = "lightning.pytorch", optimizer: str = "AdamW", options: str = "") -> str:
    return LIGHTNING.format(package=package, optimizer=optimizer, options=options)


@pytest.mark.parametrize("package", ["lightning", "lightning.pytorch", "pytorch_lightning"])
def test_a_module_trains_under_each_name_of_the_package(package: str):
    found = estimated(script(package))
    assert found.memory is not None
    assert found.memory.parameters == PARAMETERS
    assert found.config.batch_size.value == 64
    assert found.memory.components.optimizer_state == pytest.approx(2 * 4 * PARAMETERS, abs=4096)


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ("precision='bf16-mixed',", "precision", "amp-bf16"),
        ("precision=16,", "precision", "amp-fp16"),
        ("precision='bf16-true',", "precision", "bf16"),
        ("accumulate_grad_batches=4,", "accumulation_steps", 4),
    ],
)
def test_the_trainers_options_are_the_configuration(options: str, field: str, value: object):
    text = script(options=options)
    found = getattr(estimated(text).config, field)
    assert found.value == value


def test_gradients_live_through_the_next_forward():
    """Lightning clears them in the closure, between the forward and the backward."""
    cleared_late = estimated(script(optimizer="SGD"))
    assert cleared_late.memory is not None
    assert cleared_late.memory.components.gradients >= 4 * PARAMETERS


def test_a_strategy_that_shards_is_said_to_be_not_modelled():
    assert any("fsdp" in unknown for unknown in estimated(script(options="strategy='fsdp',")).unknowns)


SFT = """
import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float32)
args = SFTConfig(
    "out",
    per_device_train_batch_size=2,
    max_length=256,
    gradient_checkpointing=False,
)
SFTTrainer(model=model, args=args, train_dataset=None{more}).train()
"""


def test_supervised_fine_tuning_takes_texts_as_long_as_its_limit():
    text = SFT.format(more="")
    found = estimated(text)
    assert found.memory is not None
    assert found.memory.parameters == found.memory.trainable_parameters == 124_439_808
    assert (found.config.batch_size.value, found.config.sequence_length.value) == (2, 256)
    assert found.config.batch_size.because == Place("train.py", line_of(text, "per_device_train_batch_size"))
    assert isinstance(found.config.sequence_length, Assumed)
    assert found.config.sequence_length.at_most
    assert fit(found.memory, found.config, gpu("A100-80GB")).verdict is Verdict.FITS


def test_supervised_fine_tuning_adapts_a_model():
    found = estimated(SFT.format(more=", peft_config=LoraConfig(r=8)"))
    assert found.memory is not None
    assert found.memory.trainable_parameters == 12 * (768 * 8 + 8 * 3 * 768)
