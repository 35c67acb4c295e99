"""bitsandbytes: layers with weights in 4 or 8 bits, and optimizers with 8-bit state."""

from bitsandbytes import nn, optim
