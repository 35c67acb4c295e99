"""Saving and reading: checkpoints, and files whose content the source does not tell."""

from __future__ import annotations

from functools import partial

from analysis.configuration.documents import READERS, read
from analysis.interpreter.values import Call, HostFunction, Value
from analysis.library.domain import domain_of
from analysis.library.host_work import host_work
from analysis.library.knowledge import Example, Subject
from analysis.library.recording import emit
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch

net = torch.nn.Linear(1, 1)
torch.save({"net": net.state_dict()}, "x.pt")
net.load_state_dict(torch.load("x.pt")["net"])
net.eval()
""",
            ("save", "eval Linear"),
        ),
    ),
)


@SUBJECT.function("torch.save", "safetensors.torch.save_file", "safetensors.torch.save_model", "joblib.dump")
def _save(call: Call) -> Value:
    emit(call.machine, Kind.SAVE, value=call.get(0, "obj"), detail=call.get(1, "f"))


@SUBJECT.function("torch.distributed.checkpoint.save", "torch.distributed.checkpoint.save_state_dict", "torch.distributed.checkpoint.async_save")
def _save_together(call: Call) -> Value:
    emit(call.machine, Kind.COLLECTIVE, subject="distributed checkpoint", value=call.get(0, "state_dict"), detail={"group": call.kwargs.get("process_group")})


def _unknown(dotted: str) -> HostFunction:
    return HostFunction(dotted, lambda call: host_work(call, dotted, lambda inner: domain_of(inner).casting.symbol(f"{dotted}()", inner.span, ())))


def _document(dotted: str, kind: str) -> HostFunction:
    return HostFunction(dotted, lambda call: host_work(call, dotted, partial(read, kind=kind)))


for _name in (
    "torch.load", "safetensors.torch.load_file", "safetensors.safe_open", "joblib.load", "torch.hub.load_state_dict_from_url",
    "torch.distributed.checkpoint.load", "datasets.load_from_disk",
):  # fmt: skip
    SUBJECT.values[_name] = _unknown(_name)
for _name, _kind in READERS.items():
    SUBJECT.values[_name] = _document(_name, _kind)


@SUBJECT.below("json", "yaml", "omegaconf", "toml", "huggingface_hub", "lmdb", "pyarrow", "requests")
def _other(dotted: str) -> Value:
    return _unknown(dotted)


@SUBJECT.function("copy.replace")
def _same(call: Call) -> Value:
    return call.args[0]
