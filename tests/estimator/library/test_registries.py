"""Registries: modules are found by the name that a function says it is from, and partial functions are what they are made of."""

from __future__ import annotations

from tests.estimator.script.running import estimated

REGISTRY = """
import functools, sys, types

ENTRIES = {}

def register(function):
    module = sys.modules[function.__module__]
    assert isinstance(module, types.ModuleType)
    ENTRIES[function.__name__] = (function, module.SIZES[function.__name__])
    return function

def layer_of(kind):
    given = {}
    if isinstance(kind, functools.partial):
        given.update(kind.keywords)
        kind = kind.func
    if isinstance(kind, str):
        raise ValueError(kind)
    elif isinstance(kind, types.FunctionType):
        return kind(**given)
    assert isinstance(kind, type)
    return kind(**given)
"""
NETS = """
from functools import partial
from torch import nn
from .registry import layer_of, register

SIZES = {"small": 8}

@register
def small(width):
    linear = partial(partial(nn.Linear, out_features=5, bias=True), bias=False)
    return nn.Sequential(layer_of(partial(linear, in_features=width)), layer_of(lambda: nn.ReLU()))
"""
TRAIN = """
import torch
from nets.kinds import small
from nets.registry import ENTRIES

make, width = ENTRIES["small"]
model = make(width).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.zeros(4, width, device="cuda")).sum().backward()
    optimizer.step()
"""


def test_a_registry_finds_what_stands_beside_its_functions():
    found = estimated({"train.py": TRAIN, "nets/__init__.py": "", "nets/registry.py": REGISTRY, "nets/kinds.py": NETS})
    assert found.unknowns == ()
    assert found.memory.parameters == 8 * 5


MANY = """
import torch
from torch import nn

model = nn.ModuleList([nn.Sequential(nn.Linear(2, 1)) for _ in range(3000)]).cuda()
for module in model.modules():
    if isinstance(module, nn.Linear):
        module.seen = True
chosen = [module for module in model.modules() if getattr(module, "seen", False)]
optimizer = torch.optim.SGD([p for module in chosen for p in module.parameters()], lr=0.1)
head = nn.Linear(len(chosen), len(optimizer.param_groups[0]["params"])).cuda()
for _ in range(2):
    head(torch.zeros(4, len(chosen), device="cuda")).sum().backward()
    optimizer.step()
"""


def test_every_one_of_thousands_of_layers_is_seen():
    assert estimated(MANY).memory.parameters == 3000 * 6000 + 6000
