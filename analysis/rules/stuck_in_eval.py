"""Training runs in evaluation mode: an evaluation left it on, or the model came in it.

`model.eval()` turns dropout off and makes batch norm use its running statistics. An evaluation that leaves the model in that
mode, often in a helper in another file, lets every later training step run without dropout and with frozen
statistics until something calls `model.train()` again. `from_pretrained` of Transformers returns its model in that mode, too.

**How to fix it.** Call `model.train()` after the evaluation, or at the top of each training epoch and after each validation inside
it; or let the evaluation restore the mode that it found.

**What is not reported.** A model that is put in evaluation mode and never evaluated under `no_grad` before it trains (frozen on purpose), parts
of a model in evaluation mode (frozen batch norm), frozen teachers, forwards in evaluation mode whose outputs are never
back-propagated or only through `autograd.grad`, models that were never trained in training mode before (other than pretrained ones of a family
with dropout), models without any layer that behaves differently in the two modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Instance
from analysis.library.tensor import Owner
from analysis.rule import Bad, Good, Rule
from analysis.rules._back_to_training import after_evaluation, back_to_training, mode_evidence, where_left
from analysis.rules._born_in_eval import born_so, misses
from analysis.rules._gradients import gradients_of
from analysis.rules._modes import called_in_place, mode_matters, mode_surely_matters
from analysis.rules._objects import Concern, concern, confidence_in, contains, distinct, forward_numbers, inner, numbers_in, shares
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import callee, text

#: Per model. trained: a training step ran in training mode; left: then eval(); evaluated: and a forward that nothing back-propagates.
#: put: eval() before any training; judge: a forward under no_grad of a model that an optimizer trains and for which the mode surely matters.
#: born: it began in evaluation mode, as ``from_pretrained`` returns it; taught: and a training step ran in it.
MODE = Automaton(
    start="new",
    table={
        ("new", "learn"): "trained",
        ("new", "born"): "born",
        ("born", "train"): "trained",
        ("born", "eval"): "put",
        ("born", "opaque"): "new",
        ("born", "learn"): "set",
        ("new", "train"): "trained",
        ("new", "eval"): "put",
        ("new", "opaque"): "new",
        ("put", "judge"): "evaluated",
        ("put", "learn"): "set",
        ("put", "train"): "trained",
        ("put", "opaque"): "new",
        ("set", "train"): "trained",
        ("set", "opaque"): "new",
        ("trained", "eval"): "left",
        ("trained", "opaque"): "trained",
        ("left", "evaluate"): "evaluated",
        ("left", "judge"): "evaluated",
        ("left", "train"): "trained",
        ("left", "opaque"): "trained",
        ("evaluated", "train"): "trained",
        ("evaluated", "opaque"): "trained",
        ("evaluated", "learn"): "trained",
    },
    faults=frozenset({("evaluated", "learn"), ("born", "learn")}),
    neutral=frozenset({"new", "set", "trained"}),
    cures=frozenset({"train"}),
)


def check(trace: Trace) -> Iterator[Reported]:
    """A forward that is back-propagated runs in the mode that an evaluation left."""
    learned = numbers_in(event.value for event in trace.events(Kind.BACKWARD))
    for model in distinct(event.subject for event in trace.events(Kind.EVAL_MODE)):
        if not mode_matters(trace.snapshot, model):
            continue
        judges = not model.assumed and mode_surely_matters(model) and any(model is each for each in _optimized(trace))
        letters = _letters(model, learned, called_in_place(trace, model), judges=judges)
        for witness in trace.run(MODE, letters, Kind.EVAL_MODE, Kind.TRAIN_MODE, Kind.FORWARD, Kind.OPAQUE):
            yield from _reported(trace, model, witness)


def _letters(model: Instance, learned: frozenset[int], parts: frozenset[int], *, judges: bool) -> LetterOf:
    """Events as ``model`` sees them; ``learned`` are the forward calls that some backward reaches; ``parts`` stand for one that is never called itself."""

    def letter(event: Event) -> Letter | None:
        match event.kind:
            case Kind.EVAL_MODE if event.detail == "from_pretrained":
                return "born" if concern(event.subject, model) is Concern.YES else None
            case Kind.EVAL_MODE | Kind.TRAIN_MODE:
                named = "eval" if event.kind is Kind.EVAL_MODE else "train"
                if concern(event.subject, model) is Concern.YES or contains(event.subject, model):
                    return named
                # A part that is switched back, alone or in another model, may be all that matters; one that is switched off is frozen on purpose.
                return "opaque" if event.kind is Kind.TRAIN_MODE and shares(model, event.subject) else None
            case Kind.FORWARD:
                if concern(event.subject, model) is not Concern.YES and id(inner(event.subject)) not in parts:
                    return None
                if forward_numbers(event) & learned:
                    return "learn"
                return "judge" if judges and not event.context.grad else "evaluate"
            case _:
                return "opaque" if any(concern(each, model) is Concern.YES for each in event.subject) else None

    return letter


def _reported(trace: Trace, model: Instance, witness: Witness) -> Iterator[Reported]:
    left, learns = witness.events[0][0], witness.fault
    if left.detail != "from_pretrained":
        yield _left_so(trace, model, left, learns)
    elif (lacks := misses(trace, left, model)) and any(model is each for each in _optimized(trace)):
        yield back_to_training(trace, replace(born_so(trace, left, learns, lacks), confidence=confidence_in(model)), learns)


def _optimized(trace: Trace) -> Iterator[Owner]:
    """What optimizers hold."""
    return (owner for gradients in gradients_of(trace) for owner in gradients.owners)


def _left_so(trace: Trace, model: Instance, left: Event, learns: Event) -> Reported:
    files = trace.snapshot.contents
    span = where_left(trace, left, learns)
    whole = concern(learns.subject, model) is Concern.YES
    name = (callee(trace.snapshot, learns.span) if whole else None) or "the model"
    called = f"`{name}`" if whole else name
    through = f"`{text(trace.snapshot, span)}` leaves {called}" if span != visible(left, files) else f"{called} stays"
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(model),
        span,
        f"{through} in evaluation mode, and the training that follows runs in it: without dropout, with frozen batch norm statistics",
        mode_evidence(trace, left, learns),
    )
    if not whole:
        return Reported(replace(finding, no_fix_because="the training forward calls parts of the model: train() belongs where the evaluation ends"))
    return after_evaluation(trace, finding, name, left, learns)


_VALIDATED = """
import torch

def loss_of(model, x, y):
    return torch.nn.functional.mse_loss(model(x), y)

def validate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(loss_of(model, x, y).item() for x, y in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        loss = loss_of(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(validate(model, held_out)){mark}
{after}"""

_PRETRAINED = """
import torch
from transformers import AutoModelForSequenceClassification

def finetune(loader):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
{train}    for batch in loader:
        loss = model(**batch).loss{mark}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
_ACTING = """
import torch

def play(env, steps):
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters())
    for step in range(steps):
        net.eval(){mark}
        with torch.no_grad():
            action = net(env.observation).argmax(-1)
        x, y = env.step(action)
        optimizer.zero_grad()
{back}        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
"""

RULE = Rule(
    "stuck-in-eval",
    Severity.ERROR,
    "training runs in evaluation mode",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(model(x).mean().item() for x in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        validate(model, held_out)  # flagged
""",
            fixed="""
import torch

@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(model(x).mean().item() for x in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        validate(model, held_out)
        model.train()
""",
        ),
        Bad(_VALIDATED.format(mark="  # flagged", after=""), fixed=_VALIDATED.format(mark="", after="            model.train()\n")),
        Bad(_PRETRAINED.format(mark="  # flagged", train=""), fixed=_PRETRAINED.format(mark="", train="    model.train()\n")),
        Bad(_ACTING.format(back="", mark="  # flagged"), fixed=_ACTING.format(back="        net.train()\n", mark="")),
        Good(_ACTING.format(back="        net.train()\n", mark="")),
        Good(
            """
import torch

@torch.no_grad()
def validate(model, loader):
    was_training = model.training
    model.eval()
    total = sum(model(x).mean().item() for x in loader)
    model.train(was_training)
    return total

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        validate(model, held_out)
"""
        ),
        Good(
            """
import torch
from torch import nn

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for m in model.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.eval()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x in held_out:
                model(x)
"""
        ),
    ),
)
