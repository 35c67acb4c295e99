"""Optimizers with 8-bit state."""

from bitsandbytes import optim
