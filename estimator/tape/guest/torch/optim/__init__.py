"""``torch.optim``."""

from torch.optim import lr_scheduler
from torch.optim.adafactor import Adafactor
from torch.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from torch.optim.muon import Muon
from torch.optim.optimizer import Optimizer
from torch.optim.sgd import SGD, Adadelta, Adagrad, RMSprop
from torch.optim.lbfgs import LBFGS
