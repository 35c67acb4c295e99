"""`loss.backward()` runs where the framework must run it.

An accelerator, a fabric, a trainer or a DeepSpeed engine does more in its own `backward` than call the tensor's: it scales the loss for half precision,
divides it by the accumulation window, starts the reduction over ranks. A plain `loss.backward()` leaves all of that out.

**How to fix it.** `accelerator.backward(loss)`, `fabric.backward(loss)`, `engine.backward(loss)`; in Lightning's manual optimization
`self.manual_backward(loss)`.

**What is not reported.** Models that no framework has wrapped, or that a trainer trains in a precision that needs no scaling; a loss that a scaler
of your own has scaled; gradients with respect to inputs that `autograd.grad` computes; a backward in one branch of a condition whose other branch
lets the framework run it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, ReplaceExpression, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import scaler_of
from analysis.rules._objects import Holdings, confidence_in
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, call_at, dotted, span_of, text

#: How a wrapping is written down → what the framework's object is called.
_FRAMEWORKS = {"accelerate": "accelerator", "fabric": "fabric", "deepspeed": "engine", "trainer": "trainer"}


def check(trace: Trace) -> Iterator[Reported]:
    """Plain backwards through a model that a framework has wrapped."""
    wraps = [event for event in trace.events(Kind.WRAP) if event.detail in _FRAMEWORKS and isinstance(event.subject, Instance)]
    holdings = Holdings()
    told: set[Span] = set()
    for event in trace.events(Kind.BACKWARD):
        span = event.span
        if event.subject is not None or span in told or span.path not in trace.snapshot.contents or scaler_of(event.value) is not None:
            continue
        wrap = next((each for each in wraps if holdings.shared(event.value.owners, [each.subject])), None) if event.value.owners else None
        if wrap is not None and not _is_other_way(trace, span):
            told.add(span)
            yield _reported(trace, wrap, event)


def _is_other_way(trace: Trace, span: Span) -> bool:
    """Whether the condition around the backward has another branch, in which a framework runs it: this one is for programs without."""
    stands = around(trace.snapshot, span)
    conditions = [each for each in stands.statements if isinstance(each, ast.If)] if stands is not None else []
    for condition in conditions:
        here = span_of(trace.snapshot, span.path, condition.body[-1])
        other = condition.orelse if here is not None and span.start < here.end else condition.body
        if any(_lets_framework(node) for statement in other for node in ast.walk(statement)):
            return True
    return False


def _lets_framework(node: ast.AST) -> bool:
    """Whether it is ``engine.backward(loss)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward" and len(node.args) == 1


def _reported(trace: Trace, wrap: Event, backward: Event) -> Reported:
    files = trace.snapshot.contents
    span = backward.span
    name = _FRAMEWORKS[wrap.detail]
    sure = confidence_in(wrap.subject) if wrap.detail in {"deepspeed", "trainer"} or _must(wrap) else Confidence.MEDIUM
    finding = Finding(
        RULE.name,
        RULE.severity,
        sure,
        span,
        f"`{text(trace.snapshot, span)}` bypasses the {name}, which scales and reduces gradients in its own backward",
        (Evidence(visible(wrap, files), f"the model belongs to the {name} from here on"), Evidence(span, "its loss is back-propagated without it")),
    )
    owner, loss = _owner(trace, wrap), _loss(trace, span)
    if owner is None or loss is None or not _reachable(trace, wrap, backward, owner):
        return Reported(replace(finding, no_fix_because=f"the {name} has no name where the backward runs: pass it there"))
    title = f"Let the {name} run the backward"
    return Reported(finding, Proposal(title, Safety.SAFE, (ReplaceExpression(span, f"{owner}.backward({loss})"),)))


def _must(wrap: Event) -> bool:
    """Whether the framework was asked for something that only its own backward does."""
    accelerator = getattr(wrap.value, "fields", {}).get("prepared by")
    options = accelerator.fields.get("accelerate: options", {}) if isinstance(accelerator, Instance) else {}
    return options.get("mixed_precision") == "fp16" or "gradient_accumulation_steps" in options


def _owner(trace: Trace, wrap: Event) -> str | None:
    """``accelerator`` of ``accelerator.prepare(model)``, ``engine`` of ``engine, … = deepspeed.initialize(…)``."""
    call = call_at(trace.snapshot, wrap.span)
    if call is None:
        return None
    if wrap.detail != "deepspeed":
        return dotted(call.func.value) if isinstance(call.func, ast.Attribute) else None
    stands = around(trace.snapshot, wrap.span)
    match stands.statement if stands is not None else None:
        case ast.Assign(targets=[ast.Tuple(elts=[first, *_])]):
            return dotted(first)
        case _:
            return None


def _loss(trace: Trace, span: Span) -> str | None:
    match call_at(trace.snapshot, span):
        case ast.Call(func=ast.Attribute(value=loss, attr="backward"), args=[], keywords=[]):
            found = span_of(trace.snapshot, span.path, loss)
            return text(trace.snapshot, found) if found is not None and dotted(loss) is not None else None
        case _:
            return None


def _reachable(trace: Trace, wrap: Event, backward: Event, owner: str) -> bool:
    """Whether the name means the same where the backward stands: one frame, or a global of one file."""
    if wrap.span.path != backward.span.path:
        return False
    stands = around(trace.snapshot, wrap.span)
    return wrap.path == backward.path or (stands is not None and stands.function is None and not owner.startswith("self."))


_TRAINER = """
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

class Own(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        loss = self.compute_loss(model, inputs)
        {backward}
        return loss.detach()

def main(data):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Own(model, TrainingArguments("out"{options}), train_dataset=data).train()
"""

RULE = Rule(
    "bypassed-backward",
    Severity.ERROR,
    "loss.backward() runs where the framework must run it",
    __doc__,
    check,
    examples=(
        Bad(_TRAINER.format(backward="loss.backward()  # flagged", options=", fp16=True")),
        Good(_TRAINER.format(backward="self.accelerator.backward(loss)", options=", fp16=True")),
        Good(_TRAINER.format(backward="loss.backward()", options=", bf16=True")),
        Bad(
            """
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()  # flagged
        optimizer.step()
""",
            fixed="""
import torch
from accelerate import Accelerator

def train(model, loader):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
""",
        ),
        Bad(
            """
import deepspeed
import torch

def train(net, loader):
    engine, optimizer, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config="ds.json")
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(engine(x), y)
        loss.backward()  # flagged
        engine.step()
""",
            fixed="""
import deepspeed
import torch

def train(net, loader):
    engine, optimizer, _, _ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config="ds.json")
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(engine(x), y)
        engine.backward(loss)
        engine.step()
""",
        ),
        Good(
            """
import torch
from lightning.fabric import Fabric

def train(model, loader):
    fabric = Fabric()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    for x, y in loader:
        optimizer.zero_grad()
        fabric.backward(torch.nn.functional.mse_loss(model(x), y))
        optimizer.step()
"""
        ),
        Good(
            """
import torch
from accelerate import Accelerator

def train(model, probe, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    model = accelerator.prepare(model)
    for x, y in loader:
        with torch.no_grad():
            features = model(x)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(probe(features), y).backward()
        optimizer.step()
"""
        ),
    ),
)
