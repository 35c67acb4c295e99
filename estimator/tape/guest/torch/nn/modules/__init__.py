"""All modules."""

from torch.nn.modules.activation import *
from torch.nn.modules.attention import MultiheadAttention
from torch.nn.modules.batchnorm import *
from torch.nn.modules.container import *
from torch.nn.modules.conv import *
from torch.nn.modules.dropout import *
from torch.nn.modules.linear import *
from torch.nn.modules.loss import *
from torch.nn.modules.module import Module
from torch.nn.modules.normalization import *
from torch.nn.modules.pooling import *
from torch.nn.modules.rnn import *
from torch.nn.modules.shaping import *
from torch.nn.modules.sparse import *
from torch.nn.modules.transformer import *
