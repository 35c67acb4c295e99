"""``torch.nn.parallel.distributed``."""

from torch.nn.parallel import DistributedDataParallel
