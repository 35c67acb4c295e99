"""The caller's changes that are made around a model, and which of what was asked for did not take effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from analysis.certainty import Unknown
from analysis.interpreter.values import MISSING, Instance, Module, Value
from estimator.config import TrainingConfig
from estimator.sharding import STRATEGIES
from estimator.tape.dtype import BFLOAT16, FLOAT16, FLOAT32
from estimator.tape.tensor import Tensor

if TYPE_CHECKING:
    from estimator.script.domain import TapeDomain

_DTYPES = {"fp32": FLOAT32, "bf16": BFLOAT16, "fp16": FLOAT16}
#: Optimizers that can be asked for, by the class that they are of.
OPTIMIZERS: Mapping[str, str] = {
    "adamw": "torch.optim.AdamW", "adamw-fused": "torch.optim.AdamW", "adam": "torch.optim.Adam", "adam-fused": "torch.optim.Adam",
    "sgd": "torch.optim.SGD", "sgd-momentum": "torch.optim.SGD", "rmsprop": "torch.optim.RMSprop", "adagrad": "torch.optim.Adagrad",
    "adadelta": "torch.optim.Adadelta", "adafactor": "torch.optim.Adafactor", "adamw-8bit": "bitsandbytes.optim.AdamW8bit",
    "adam-8bit": "bitsandbytes.optim.Adam8bit", "lion": "lion_pytorch.Lion",
}  # fmt: skip
#: Classes of ``torch.optim`` in whose place the one that is asked for is put.
_REPLACED = ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "RMSprop", "Adagrad", "Adadelta", "Adafactor")
#: Sharding that is counted; of the rest only one device without it can be shown.
_MODELLED_SHARDING = frozenset({"none", "ddp", *STRATEGIES})
#: How the command line calls the fields.
_OPTIONS = {"sequence_length": "--seq-len"}


def before_the_run(domain: TapeDomain) -> None:
    """Put the optimizer that is asked for in the place of every other one."""
    wanted = domain.request.overrides.get("optimizer")
    dotted = OPTIMIZERS.get(wanted, "") if isinstance(wanted, str) else ""
    if not dotted:
        return
    machine = domain.machine
    package, _, name = dotted.rpartition(".")
    library = machine.import_module(package, machine.entry_path)
    chosen = getattr(library, "vars", {}).get(name, MISSING)
    optim = machine.import_module("torch.optim", machine.entry_path)
    if chosen is MISSING or not isinstance(optim, Module):
        return
    for each in _REPLACED:
        optim.vars[each] = chosen


def around(domain: TapeDomain, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """Make the changes to a model that is about to run for the first time."""
    if id(module) in domain.changed:
        return
    domain.changed[id(module)] = module
    overrides = domain.request.overrides
    if overrides.get("checkpointing") is not None:
        _checkpoint(domain, module, enable=overrides["checkpointing"])
    dtype = _DTYPES.get(overrides.get("precision", ""))
    floats = any(isinstance(value, Tensor) and value.dtype.is_floating_point and value.dtype != dtype for value in (*args, *kwargs.values()))
    if dtype is not None and not floats:
        domain.tape.autocast.enabled = False
        _called(domain, module, "to", [dtype])
    if overrides.get("sharding") == "ddp" and overrides.get("devices", 1) > 1 and module.cls.name != "DistributedDataParallel":
        parallel = domain.machine.import_module("torch.nn.parallel", domain.machine.entry_path)
        domain.buckets = domain.machine.call(domain.machine.getattr(parallel, "buckets", domain.machine.span), [module], {}, domain.machine.span)
        domain.observed.fact("sharding", "ddp", None)


def _checkpoint(domain: TapeDomain, module: Instance, *, enable: bool) -> None:
    method = "gradient_checkpointing_enable" if enable else "gradient_checkpointing_disable"
    if module.cls.find(method) is not MISSING:
        _called(domain, module, method, [])
    elif enable:
        changes = domain.machine.import_module("preflight_changes", domain.machine.entry_path)
        domain.machine.call(domain.machine.getattr(changes, "checkpoint_blocks", domain.machine.span), [module], {}, domain.machine.span)


def _called(domain: TapeDomain, module: Instance, method: str, args: list[Value]) -> None:
    machine = domain.machine
    machine.call(machine.getattr(module, method, machine.span), args, {}, machine.span)


def not_applied(config: TrainingConfig, overrides: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each thing that was asked for and that what arrived at the model does not show."""
    for name, wanted in overrides.items():
        setting = getattr(config, name, None)
        if setting is None or getattr(setting, "value", None) == wanted or (wanted is False and isinstance(setting, Unknown)):
            continue
        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        if name == "sharding" and wanted not in _MODELLED_SHARDING:
            yield f"{option} {wanted} is not modelled yet: what is shown is one device without it"
        elif name == "optimizer" and wanted not in OPTIMIZERS:
            yield f"{option} {wanted} was not applied: the optimizers known here are {', '.join(OPTIMIZERS)}"
        elif isinstance(setting, Unknown):
            yield f"{option} {wanted} was not applied: {setting.why}"
        else:
            why = f"the script offers no way to set it, and {setting.value} is what is shown"
            yield f"{option} {wanted} was not applied: {why}; change it in the script or with --set NAME=VALUE"
