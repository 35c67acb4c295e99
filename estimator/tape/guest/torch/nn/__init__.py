"""``torch.nn``."""

from torch.nn import functional, init, utils
from torch.nn.modules import *
from torch.nn.parameter import Buffer, Parameter
