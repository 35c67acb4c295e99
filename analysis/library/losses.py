"""Losses, as functions and as modules: what they compare is written down with the event."""

from __future__ import annotations

from analysis.interpreter.values import Call, HostFunction, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject
from analysis.library.ownership import MODULE
from analysis.library.recording import emit
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch import nn

net = nn.Linear(4, 3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
criterion(net(torch.randn(2, 4)), torch.zeros(2).long()).backward()
nn.functional.mse_loss(net(torch.randn(2, 4)), torch.zeros(2, 3))
""",
            ("forward Linear", "loss", "backward", "forward Linear", "loss"),
        ),
    ),
)

#: Class of ``torch.nn`` → function of ``torch.nn.functional``.
LOSSES = {
    "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss", "NLLLoss2d": "nll_loss", "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "MSELoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss", "KLDivLoss": "kl_div", "PoissonNLLLoss": "poisson_nll_loss", "GaussianNLLLoss": "gaussian_nll_loss",
    "HingeEmbeddingLoss": "hinge_embedding_loss", "MarginRankingLoss": "margin_ranking_loss", "MultiMarginLoss": "multi_margin_loss",
    "MultiLabelMarginLoss": "multilabel_margin_loss", "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss", "SoftMarginLoss": "soft_margin_loss",
    "CosineEmbeddingLoss": "cosine_embedding_loss", "TripletMarginLoss": "triplet_margin_loss",
    "TripletMarginWithDistanceLoss": "triplet_margin_with_distance_loss", "CTCLoss": "ctc_loss",
}  # fmt: skip
#: Libraries that have losses of the same meaning under names of their own.
_OTHERS = {
    "timm.loss.LabelSmoothingCrossEntropy": "cross_entropy", "timm.loss.SoftTargetCrossEntropy": "cross_entropy",
    "timm.loss.BinaryCrossEntropy": "binary_cross_entropy_with_logits", "fastai.losses.CrossEntropyLossFlat": "cross_entropy",
    "fastai.losses.BCEWithLogitsLossFlat": "binary_cross_entropy_with_logits", "fastai.losses.BCELossFlat": "binary_cross_entropy",
    "fastai.losses.MSELossFlat": "mse_loss", "fastai.losses.L1LossFlat": "l1_loss", "fastai.losses.LabelSmoothingCrossEntropy": "cross_entropy",
    "fastai.losses.LabelSmoothingCrossEntropyFlat": "cross_entropy",
}  # fmt: skip


def loss(call: Call, name: str, given: list[Value], options: dict[str, Value]) -> Value:
    """The value of the loss ``name`` on ``given`` (input, target, …), with its event."""
    made = domain_of(call).autograd.made(name, tuple(given), options)
    rest = {**options}
    pair = [given[0] if given else rest.get("input"), given[1] if len(given) > 1 else rest.get("target")]
    emit(call.machine, Kind.LOSS, subject=name, value=made, detail=(pair[0], pair[1], options))
    return made


def _function(name: str) -> HostFunction:
    return HostFunction(f"torch.nn.functional.{name}", lambda call: loss(call, name, call.args, call.kwargs))


def _module(name: str) -> HostFunction:
    def run(call: Call) -> Value:
        options = {**call.args[0].fields.get("loss: options", {}), **call.kwargs}
        return loss(call, name, call.args[1:], options)

    return HostFunction("forward", run)


def _init(call: Call) -> Value:
    call.args[0].fields.update({"training": True, "loss: options": dict(call.kwargs), **{k: v for k, v in call.kwargs.items() if k.isidentifier()}})
    if len(call.args) > 1:
        call.args[0].fields["loss: options"]["weight"] = call.args[1]


for _class, _name in LOSSES.items():
    SUBJECT.values[f"torch.nn.functional.{_name}"] = _function(_name)
    SUBJECT.cls(f"torch.nn.{_class}", MODULE).namespace.update({"__init__": HostFunction("__init__", _init), "forward": _module(_name)})
for _class, _name in _OTHERS.items():
    SUBJECT.cls(_class, MODULE).namespace.update({"__init__": HostFunction("__init__", _init), "forward": _module(_name)})
SUBJECT.cls("torch.nn._Loss", MODULE).namespace.update({"__init__": HostFunction("__init__", _init)})
SUBJECT.values["torch.nn.functional.sigmoid_focal_loss"] = _function("sigmoid_focal_loss")
SUBJECT.values["torchvision.ops.sigmoid_focal_loss"] = _function("sigmoid_focal_loss")

for _module_file in ("loss", "activation", "linear", "conv", "batchnorm", "normalization", "dropout", "pooling", "rnn", "transformer", "container", "sparse"):
    SUBJECT.alias("torch.nn", f"torch.nn.modules.{_module_file}")
