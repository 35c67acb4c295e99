"""The layers of ``torch.nn``: which of them have parameters, and what operation each is."""

from __future__ import annotations

from analysis.interpreter.values import Call, HostFunction, Instance, Value
from analysis.library.domain import domain_of
from analysis.library.dropout import dropped
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import MODULE, owner_of
from analysis.library.parts import run_unknown
from analysis.library.recording import modes

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch import nn
from torch.nn import functional as F

head = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
loss = F.cross_entropy(head(torch.randn(2, 4)), torch.zeros(2).long())
loss.backward()
""",
            ("forward Sequential", "loss", "backward"),
        ),
        Example(
            """
import torch
from torch.nn import SyncBatchNorm

model = torch.nn.Linear(4, 3)
shared = torch.nn.parallel.DistributedDataParallel(SyncBatchNorm.convert_sync_batchnorm(model))
shared(torch.randn(2, 4)).sum().backward()
""",
            ("wrap Linear", "forward Linear", "backward"),
        ),
    ),
)

#: Layers that hold parameters.
_WITH_PARAMETERS = """
Linear Bilinear LazyLinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d BatchNorm1d BatchNorm2d
BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d SyncBatchNorm LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d RMSNorm Embedding EmbeddingBag
PReLU MultiheadAttention Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer RNNCell LSTMCell GRUCell
"""
#: Recurrent layers give (output, state).
_RECURRENT = "RNN LSTM GRU"
#: Layers without parameters, and the operation they are.
_PLAIN = {
    "Softmax": "softmax", "Softmax2d": "softmax", "LogSoftmax": "log_softmax", "Softmin": "softmin", "Sigmoid": "sigmoid", "LogSigmoid": "logsigmoid",
    "Tanh": "tanh", "ReLU": "relu", "ReLU6": "relu6", "LeakyReLU": "leaky_relu", "ELU": "elu", "SELU": "selu", "CELU": "celu", "GELU": "gelu",
    "SiLU": "silu", "Mish": "mish", "GLU": "glu", "Hardtanh": "hardtanh", "Hardswish": "hardswish", "Hardsigmoid": "hardsigmoid", "Softplus": "softplus",
    "Softsign": "softsign", "Threshold": "threshold", "Tanhshrink": "tanhshrink", "Hardshrink": "hardshrink", "Softshrink": "softshrink", "RReLU": "rrelu",
    "Dropout": "dropout", "Dropout1d": "dropout", "Dropout2d": "dropout", "Dropout3d": "dropout", "AlphaDropout": "dropout",
    "FeatureAlphaDropout": "dropout", "Flatten": "flatten", "Unflatten": "unflatten", "Identity": "identity", "MaxPool1d": "max_pool", "MaxPool2d": "max_pool",
    "MaxPool3d": "max_pool", "AvgPool1d": "avg_pool", "AvgPool2d": "avg_pool", "AvgPool3d": "avg_pool", "AdaptiveAvgPool1d": "avg_pool",
    "AdaptiveAvgPool2d": "avg_pool", "AdaptiveAvgPool3d": "avg_pool", "AdaptiveMaxPool1d": "max_pool", "AdaptiveMaxPool2d": "max_pool",
    "AdaptiveMaxPool3d": "max_pool", "MaxUnpool2d": "max_unpool", "LPPool2d": "lp_pool", "Upsample": "interpolate", "UpsamplingNearest2d": "interpolate",
    "UpsamplingBilinear2d": "interpolate", "PixelShuffle": "pixel_shuffle", "PixelUnshuffle": "pixel_unshuffle", "ChannelShuffle": "channel_shuffle",
    "ZeroPad2d": "pad", "ConstantPad1d": "pad", "ConstantPad2d": "pad", "ReflectionPad1d": "pad", "ReflectionPad2d": "pad", "ReplicationPad2d": "pad",
    "CosineSimilarity": "cosine_similarity", "PairwiseDistance": "pairwise_distance", "Fold": "fold", "Unfold": "unfold", "LocalResponseNorm": "lrn",
}  # fmt: skip


#: Whether a layer was built while a forward ran: nothing can switch it to another mode before it is called.
BUILT_INSIDE = "layer: built in a forward"


#: Of a layer: the calls that led to where it was built.
BUILT_BY = "layer: built by"


def _keep_arguments(call: Call) -> Value:
    """Layers remember how they were built: a rule may ask for ``dim`` or ``p``."""
    instance = call.args[0]
    instance.fields.update({"training": True, **{key: value for key, value in call.kwargs.items() if key.isidentifier()}})
    instance.fields["layer: arguments"] = tuple(call.args[1:])
    instance.fields[BUILT_INSIDE] = modes(call.machine).forwarding is not None
    instance.fields[BUILT_BY] = call.machine.path


def _layer(op: str, outputs: int = 1) -> HostFunction:
    """The forward of a layer with parameters."""

    def run(call: Call) -> Value:
        layer = call.args[0]
        result = run_unknown(domain_of(call), layer, Call(call.machine, call.args[1:], call.kwargs, call.span), op)
        return result if outputs == 1 else tuple(result.unpack(outputs))

    return HostFunction("forward", run)


def _operation(op: str) -> HostFunction:
    """The forward of a layer without parameters."""

    def run(call: Call) -> Value:
        layer: Instance = call.args[0]
        if op == "dropout" and layer.fields.get(BUILT_INSIDE) is True:
            dropped(call, layer.fields.get("p", next(iter(layer.fields.get("layer: arguments", ())), 0.5)), layer)
        plain = {key: value for key, value in layer.fields.items() if key.isidentifier()}
        options = {**plain, "arguments": layer.fields.get("layer: arguments", ()), "built": layer.span}
        return domain_of(call).autograd.made(op, tuple(call.args[1:]), {key: value for key, value in options.items() if not isinstance(value, Instance)})

    return HostFunction("forward", run)


for _names, _outputs in ((_WITH_PARAMETERS, 1), (_RECURRENT, 2)):
    for _name in _names.split():
        _declared = SUBJECT.cls(f"torch.nn.{_name}", MODULE)
        _declared.namespace.update({"is_layer": True, "__init__": HostFunction("__init__", _keep_arguments), "forward": _layer(_name.lower(), _outputs)})

for _name, _op in _PLAIN.items():
    _declared = SUBJECT.cls(f"torch.nn.{_name}", MODULE)
    _declared.namespace.update({"__init__": HostFunction("__init__", _keep_arguments), "forward": _operation(_op)})

for _name in ("MultiheadAttention", "LSTMCell"):
    SUBJECT.classes[f"torch.nn.{_name}"].namespace["forward"] = _layer(_name.lower(), 2)

for _name in ("weight", "bias"):

    def _weight(call: Call) -> Value:
        return domain_of(call).autograd.representative(owner_of(call.args[0]))

    for _layer_name in _WITH_PARAMETERS.split():
        SUBJECT.classes[f"torch.nn.{_layer_name}"].property(_name)(_weight)


@SUBJECT.below("torch.nn.init", "torch.nn.utils.parametrizations", "torch.nn.utils.rnn", "torch.nn.utils.fusion")
def _init_or_pack(dotted: str) -> Value:
    """Initialisers give back what they fill; packing and padding make a sequence of what they are given."""
    name = dotted.rpartition(".")[2]

    def run(call: Call) -> Value:
        if dotted.startswith("torch.nn.utils.rnn."):
            made = domain_of(call).autograd.made(name, tuple(call.args), call.kwargs)
            return tuple(made.unpack(2)) if name == "pad_packed_sequence" else made
        return call.args[0] if call.args else next(iter(call.kwargs.values()), None)

    return HostFunction(dotted, run)


@SUBJECT.classes["torch.nn.SyncBatchNorm"].static("convert_sync_batchnorm")
@SUBJECT.function(
    "torch.nn.utils.weight_norm",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.remove_weight_norm",
    "apex.parallel.convert_syncbn_model",
    "timm.layers.convert_sync_batchnorm",
    "timm.layers.convert_splitbn_model",
    "timm.models.convert_splitbn_model",
)
def _same_module(call: Call) -> Value:
    return call.get(0, "module")


@SUBJECT.function("torch.nn.utils.parameters_to_vector")
def _to_vector(call: Call) -> Value:
    return domain_of(call).autograd.made("cat", (list(call.machine.items(call.args[0], call.span)),))


@SUBJECT.function("torch.nn.utils.vector_to_parameters")
def _from_vector(_call: Call) -> Value:
    return None
