"""DeepSpeed: an engine that is model and optimizer at once; its step clears the gradients and its backward divides the loss."""

from __future__ import annotations

from analysis.interpreter.values import Call, HostFunction, Instance, Value
from analysis.library.distributed import rank
from analysis.library.domain import domain_of
from analysis.library.gradients import backward
from analysis.library.knowledge import Example, Subject
from analysis.library.optimizers import OPTIMIZER
from analysis.library.ownership import MODULE, WRAPPED, owner_of
from analysis.library.ranks import WORLD_SIZE
from analysis.library.recording import emit
from analysis.library.tensor import Parameters
from analysis.trace.events import Kind

SUBJECT = Subject(
    examples=(
        Example(
            """
import deepspeed
import torch

net = torch.nn.Linear(1, 1)
engine, optimizer, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config="ds.json")
engine.backward(engine(torch.zeros(1, 1)).mean())
engine.step()
""",
            ("init_distributed", "wrap Linear", "forward Linear", "backward DeepSpeedEngine", "step Optimizer", "zero_grad Optimizer"),
        ),
    ),
)

_ENGINE = SUBJECT.cls("deepspeed.DeepSpeedEngine", MODULE)
_ENGINE.namespace["wraps"] = True


@SUBJECT.function("deepspeed.initialize")
def _initialize(call: Call) -> Value:
    domain, machine = domain_of(call), call.machine
    model, optimizer = call.get(1, "model"), call.get(2, "optimizer")
    emit(machine, Kind.INIT_DISTRIBUTED, subject="deepspeed")
    if not isinstance(optimizer, Instance):
        given = call.get(3, "model_parameters")
        parameters = given if isinstance(given, Parameters) or not isinstance(model, Instance) else Parameters(domain.autograd, (owner_of(model),))
        optimizer = machine.construct(domain.library.cls(OPTIMIZER), [parameters], {}, call.span)
    engine = machine.instance(domain.library.cls("deepspeed.DeepSpeedEngine"), call.span)
    engine.fields.update({WRAPPED: model, "training": True, "optimizer": optimizer, "engine: config": call.kwargs.get("config")})
    if isinstance(model, Instance):
        emit(machine, Kind.WRAP, subject=owner_of(model), value=engine, detail="deepspeed")
    loader = call.kwargs.get("training_data")
    return engine, optimizer, domain.casting.symbol("the engine's loader", call.span, ()) if loader is not None else None, call.kwargs.get("lr_scheduler")


@_ENGINE.method("forward")
def _forward(call: Call) -> Value:
    return call.machine.call(call.args[0].fields[WRAPPED], call.args[1:], dict(call.kwargs), call.span)


@_ENGINE.method("backward")
def _backward(call: Call) -> Value:
    backward(call, call.get(1, "loss"), by=call.args[0])
    return call.get(1, "loss")


@_ENGINE.method("step")
def _step(call: Call) -> Value:
    engine = call.args[0]
    emit(call.machine, Kind.STEP, subject=engine.fields.get("optimizer"), detail=engine)
    emit(call.machine, Kind.ZERO_GRAD, subject=engine.fields.get("optimizer"), detail=engine)


@_ENGINE.method("save_checkpoint", "load_checkpoint", "save_16bit_model")
def _checkpoint(call: Call) -> Value:
    emit(call.machine, Kind.COLLECTIVE, subject="deepspeed checkpoint", value=call.args[0])
    return domain_of(call).casting.symbol("a checkpoint", call.span, call.machine.stamp), None


@_ENGINE.method("gradient_accumulation_steps")
def _window(call: Call) -> Value:
    config = call.args[0].fields.get("engine: config")
    return config.get("gradient_accumulation_steps", 1) if isinstance(config, dict) else _number(call)


@_ENGINE.method("is_gradient_accumulation_boundary", "train_batch_size", "get_lr", "get_global_grad_norm")
def _number(call: Call) -> Value:
    return domain_of(call).casting.symbol("a setting of the engine", call.span, ())


#: What an engine counts.
_COUNTERS = frozenset({"global_steps", "global_samples", "micro_steps", "skipped_steps"})


@_ENGINE.method("__getattr__")
def _attribute(call: Call) -> Value:
    engine, name = call.args
    if name in {"global_rank", "local_rank"}:
        return rank(call)
    if name in _COUNTERS:
        return domain_of(call).casting.symbol("how far the engine is", call.span, call.machine.stamp)
    if name in {"world_size", "dp_world_size"}:
        return WORLD_SIZE if domain_of(call).is_distributed() else 1
    return call.machine.getattr(engine.fields[WRAPPED], name, call.span)


@SUBJECT.function("deepspeed.init_distributed")
def _init(call: Call) -> Value:
    call.machine.state["process group"] = True
    emit(call.machine, Kind.INIT_DISTRIBUTED, subject="deepspeed")


@SUBJECT.function("deepspeed.add_config_arguments")
def _arguments(call: Call) -> Value:
    return call.args[0]


@SUBJECT.below("deepspeed")
def _other(dotted: str) -> Value:
    return HostFunction(dotted, lambda call: domain_of(call).casting.symbol(f"{dotted}()", call.span, ()))
