"""Graph convolutions: layers with parameters whose outputs may be any number."""

from __future__ import annotations

from analysis.interpreter.values import Call, HostFunction, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import MODULE
from analysis.library.parts import run_unknown

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.nn.conv import SAGEConv

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = GCNConv(4, 8), SAGEConv(8, 8), GATConv(8, 2, heads=1)

    def forward(self, x, edges):
        return self.three(self.two(self.one(x, edges).relu(), edges).relu(), edges)

net = Net()
optimizer = torch.optim.Adam(net.parameters())
net(torch.zeros(3, 4), torch.zeros(2, 5)).mean().backward()
optimizer.step()
""",
            ("optimizer_built Adam", "forward Net", "backward", "step Adam"),
        ),
    ),
)

_PACKAGE = "torch_geometric.nn"
_CONVOLUTIONS = """
GCNConv ChebConv SAGEConv GraphConv GatedGraphConv ResGatedGraphConv GATConv GATv2Conv TransformerConv AGNNConv TAGConv ARMAConv SGConv SSGConv
RGCNConv FastRGCNConv RGATConv SignedConv GMMConv SplineConv CGConv LEConv GCN2Conv FiLMConv SuperGATConv FAConv GeneralConv HGTConv HANConv
"""
SUBJECT.alias(_PACKAGE, f"{_PACKAGE}.conv")


def _forward(call: Call) -> Value:
    return run_unknown(domain_of(call), call.args[0], Call(call.machine, call.args[1:], call.kwargs, call.span), "graph_conv")


def _init(call: Call) -> Value:
    call.args[0].fields["training"] = True


for _name in _CONVOLUTIONS.split():
    _declared = SUBJECT.cls(f"{_PACKAGE}.{_name}", MODULE)
    _declared.namespace.update({"is_layer": True, "__init__": HostFunction("__init__", _init), "forward": HostFunction("forward", _forward)})
