"""``pytorch_lightning``: ``lightning.pytorch`` under its older name."""

from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer, seed_everything
