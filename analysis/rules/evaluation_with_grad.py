"""An evaluation keeps autograd graphs that nothing ever uses.

With gradients enabled every forward saves its activations for a backward. In an evaluation there is none: memory that
could hold larger batches is wasted, and where outputs or losses are collected over the data set it grows until the GPU is full. The same
happens to targets that are computed once with gradients and then used in every round of an update loop: the second
backward goes through a graph that the first has freed.

**How to fix it.** Run the evaluation under `torch.no_grad()` or `torch.inference_mode()`, as a block or as a decorator.

**What is not reported.** Outputs that reach a `backward()` or `autograd.grad()`; a single forward outside any evaluation loop, whose
graph is gone at once; models without trainable parameters; frozen teachers and feature extractors inside a training step; code under a
decorator or a caller that already turns gradients off, one from elsewhere too if its name says so.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import AddDecorator, AddImport, Proposal, Reported
from analysis.interpreter.values import Instance, Symbol
from analysis.library.ownership import modules_in
from analysis.library.tensor import tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors, moment
from analysis.rules._named_guards import is_named_guarded
from analysis.rules._no_grad_fix import learns_in, with_fix
from analysis.rules._objects import Concern, Inside, concern, confidence_in, contains, distinct, forward_numbers, inner, numbers_in
from analysis.rules._reuse import reused
from analysis.rules._windows import goes_round_few
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, meeting, visible, within
from analysis.trace.reading import around, callee, receiver, span_of, text

#: Iterations of a loop that are looked at: what is kept is kept in the second at the latest.
_ROUNDS = 4
_FACTORIES = frozenset({"ones", "zeros", "empty", "full", "rand", "randn", "randint", "arange", "linspace", "eye", "normal"})
#: What runs a model for whoever has the loop, and leaves gradients to them.
_FORWARDS = frozenset({"forward", "val_step", "validation_step", "test_step"})
#: Per model: a forward for nothing ("wasted") while it is in evaluation mode.
MODE = Automaton(
    start="training",
    table={("training", "eval"): "evaluating", ("evaluating", "eval"): "evaluating", ("evaluating", "train"): "training", ("evaluating", "opaque"): "training"},
    faults=frozenset({("evaluating", "wasted")}),
    neutral=frozenset({"training"}),
    cures=frozenset({"train"}),
)


def check(trace: Trace) -> Iterator[Reported]:
    """Forwards in evaluation mode that no gradient is ever taken through, and targets that carry a graph from round to round."""
    used = numbers_in(event.value for event in trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL))
    told: set[object] = set()
    found: dict[object, Reported] = {}
    for model in distinct(event.subject for event in trace.events(Kind.EVAL_MODE)):
        letters = _letters(trace, model, used)
        for witness in trace.run(MODE, letters, Kind.EVAL_MODE, Kind.TRAIN_MODE, Kind.FORWARD, Kind.OPAQUE):
            kept = _kept(trace, witness.fault)
            if is_named_guarded(trace, witness.fault):
                continue
            if (kept is not None or not _is_made_up(witness.fault)) and (loop := _loop_of(trace, witness.fault, kept)) not in told:
                told.add(loop)
                reported = _wasted(trace, model, witness, kept)
                remedy = reported.proposal.changes[0] if reported.proposal is not None else loop
                found.setdefault(remedy, reported)  # what one block or decorator mends is one mistake
    yield from found.values()
    for forward, backward in reused(trace):
        yield _reported_reuse(trace, forward, backward)


def _letters(trace: Trace, model: Instance, used: frozenset[int]) -> LetterOf:
    """Events as ``model`` sees them; ``used`` are the forward calls that some gradient was taken through."""
    backwards = [event.context.stamp for event in trace.events(Kind.BACKWARD, Kind.GRADIENT_CALL)]
    inside = Inside(model)
    own = [cls.span for module in modules_in(model) for cls in module.cls.mro if cls.span is not None]
    #: Whoever turns gradients off for the model, and not for what prepares its inputs, knows of no parameters in that.
    given = (each for event in trace.events(Kind.FORWARD) if model.assumed and not event.context.grad for each in tensors_in(event.detail))
    prepared = numbers_in(before for tensor in given for before in ancestors(tensor))

    def wasted(event: Event) -> bool:
        """A forward of an evaluation loop: no gradient through it, and neither training nor a new model in the same iteration."""
        stamp = event.context.stamp
        numbers = forward_numbers(event)
        if not stamp or not event.context.grad or not numbers or numbers & (used | prepared) or within(model.stamp, stamp) or _is_a_method(event):
            return False
        return not any(within(other, stamp) for other in backwards)

    def letter(event: Event) -> Letter | None:
        match event.kind:
            case Kind.EVAL_MODE | Kind.TRAIN_MODE:
                whole = concern(event.subject, model) is Concern.YES or contains(event.subject, model)
                return ("eval" if event.kind is Kind.EVAL_MODE else "train") if whole else None
            case Kind.FORWARD:
                part = not model.assumed and event.subject in inside and not _goes_round_in(trace, event, own)
                mine = part or concern(event.subject, model) is Concern.YES
                return "wasted" if mine and wasted(event) else None
            case _:
                return "opaque" if any(concern(each, model) is Concern.YES for each in event.subject) else None

    return letter


def _goes_round_in(trace: Trace, forward: Event, own: Sequence[Span]) -> bool:
    """Whether a loop around the forward stands in a method of the model: it goes over the model's blocks, and not over data."""
    loops = (trace.loop(number) for number, _ in forward.context.stamp)
    return any(loop is not None and any(span.holds(loop.span) for span in own) for loop in loops)


def _loop_of(trace: Trace, forward: Event, kept: Event | None) -> object:
    """Forwards of one loop that lack the same block are one mistake, whoever calls the function that holds the loop."""
    number = forward.context.stamp[-1][0]
    loop = trace.loop(number)
    written = loop is not None and loop.span.path in trace.snapshot.contents
    return loop.span if loop is not None and written else (forward.path, number), kept is not None


def _is_a_method(forward: Event) -> bool:
    """Whether a method of a model from elsewhere was called, which may turn gradients off itself, and not the model or the step of an evaluation."""
    outside = isinstance(forward.subject, Instance) and forward.subject.cls.find("is_unknown") is True
    return outside and not any(tensor.made is not None and tensor.made.op in _FORWARDS for tensor in tensors_in(forward.value))


def _is_made_up(forward: Event) -> bool:
    """Whether the inputs are noise or constants made on the spot: a measurement or a sample, and no evaluation on data."""
    given = list(tensors_in(forward.detail))
    origins = [each.made.op for tensor in given for each in ancestors(tensor) if each.made is not None and not each.made.tensors]
    return bool(origins) and all(op in _FACTORIES for op in origins) and not any(isinstance(each, Symbol) for each in forward.detail)


def _wasted(trace: Trace, model: Instance, witness: Witness, kept: Event | None) -> Reported:
    files = trace.snapshot.contents
    begins, forward = witness.last("eval") or witness.events[0][0], witness.fault
    span = meeting(forward, begins, files)
    whole = inner(forward.subject) is model
    name = callee(trace.snapshot, visible(forward, files)) if whole else receiver(trace.snapshot, span)
    effect = "what is collected keeps every graph of the loop in memory" if kept else "each batch saves its activations for a backward that never comes"
    chain = [Evidence(call, "called from here") for call in _callers(forward, files)]
    chain.append(Evidence(visible(begins, files), "the model goes into evaluation mode"))
    chain.append(Evidence(visible(forward, files), "the forward runs with gradients enabled"))
    if kept is not None:
        chain.append(Evidence(visible(kept, files), "and what is kept here holds on to its graph"))
    finding = Finding(
        RULE.name,
        Severity.ERROR if kept and whole and not goes_round_few(trace, forward, kept) else Severity.WARNING,
        confidence_in(model),
        span,
        f"{f'`{name}`' if name else 'the model'} is evaluated with gradients enabled: {effect}",
        tuple(chain),
    )
    return with_fix(trace, finding, begins, forward)


def _kept(trace: Trace, forward: Event) -> Event | None:
    """What takes in the graph of the forward, in this iteration or another one, and outlives it."""
    again = [event for event in trace.events(Kind.FORWARD) if event.span == forward.span and event.path == forward.path][:_ROUNDS]
    numbers = [forward_numbers(each) for each in again]
    for store in trace.events(Kind.STORE):
        if store.detail.grows and store.detail.outlives:
            carried = numbers_in([store.value])
            if any(carried & own and _keeps(store, each) for each, own in zip(again, numbers, strict=True)):
                return store
    return None


def _keeps(store: Event, forward: Event) -> bool:
    """Whether a slot that takes in the graph of the forward outlives the iteration."""
    inside = store.path[: len(forward.path) + 1] == frames(forward)
    return not inside and moment(store, forward) == forward.context.stamp


def _callers(event: Event, files: Container[str]) -> list[Span]:
    """The last calls of the repository that lead to the event."""
    return [span for span in event.path if span.path in files][-2:]


def _reported_reuse(trace: Trace, forward: Event, backward: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(forward, files)
    finding = Finding(
        RULE.name,
        Severity.ERROR,
        confidence_in(forward.subject),
        span,
        f"`{text(trace.snapshot, span)}` is computed once with gradients enabled and then back-propagated in every round of the loop: "
        "the second round goes through a graph that the first has freed, and gradients flow into what looks like a fixed target",
        (
            Evidence(span, "computed once, with its autograd graph"),
            Evidence(visible(backward, files), "this backward reaches it again in each round"),
        ),
    )
    stands = around(trace.snapshot, span)
    whole = span_of(trace.snapshot, span.path, stands.function) if stands is not None and stands.function is not None else None
    if whole is None or learns_in(trace, forward.path):
        return Reported(replace(finding, no_fix_because="what has to be cut depends on which of these values are meant to be trained through"))
    changes = (AddDecorator(whole, "torch.no_grad()"), AddImport(span.path, "torch"))
    return Reported(finding, Proposal("Is nothing in this function meant to be trained through? Then compute it without gradients", Safety.REVIEW, changes))


RULE = Rule(
    "evaluation-with-grad",
    Severity.ERROR,
    "an evaluation keeps autograd graphs that nothing uses",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def validate(model, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        out = model(x)  # flagged
        total = total + torch.nn.functional.mse_loss(out, y)
    return float(total) / len(loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        print(validate(model, held_out))
""",
            fixed="""
import torch

@torch.no_grad()
def validate(model, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        out = model(x)
        total = total + torch.nn.functional.mse_loss(out, y)
    return float(total) / len(loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        print(validate(model, held_out))
""",
        ),
        Good(
            """
import torch

def validate(model, loader):
    model.eval()
    return sum(model(x).mean().item() for x in loader)

def train(model, loader, held_out):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        with torch.inference_mode():
            print(validate(model, held_out))
"""
        ),
        Good(
            """
import torch

def attack(model, loader):
    model.eval()
    for x, y in loader:
        x = x.requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        (slope,) = torch.autograd.grad(loss, x)
        print((x + 0.1 * slope.sign()).mean())
"""
        ),
    ),
)
