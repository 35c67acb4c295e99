"""``lightning``: the trainer of ``lightning.pytorch`` under its short name."""

from lightning.fabric import Fabric
from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer, seed_everything
