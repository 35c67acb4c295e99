"""Every epoch trains on the same batches in the same order.

A loader without `shuffle=True` gives the samples as they are stored, and stored data is often sorted, by class or by time. Each batch then holds
samples that are alike, gradients swing from one kind to the next, and batch norm never sees a mixture.

**How to fix it.** `DataLoader(dataset, batch_size=…, shuffle=True)` for the training data.

**What is not reported.** Loaders with a sampler or batch sampler; iterable data sets; data that is shuffled or drawn at random anywhere before or while it
is read; random data; loaders that are gone through once; models that carry a state from batch to batch; batches of the whole data set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import Proposal, RemoveArgument, Reported, SetArgument
from analysis.interpreter.values import MISSING, Instance, Stamp, Value
from analysis.library.tensor import Tensor, tensors_in
from analysis.rule import Bad, Good, Rule
from analysis.rules._carriers import ancestors
from analysis.rules._samplers import divides
from analysis.rules._training_data import draws_anew, epochs, training_loaders
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, call_at

#: Draws that may put items in another order, or choose them.
_ORDERING = frozenset({"shuffle", "permutation", "sample", "choice", "choices", "randint", "randrange", "integers", "random_split", "randperm"})
_RANDOM = frozenset({"randn", "rand", "randint", "normal", "randn_like", "rand_like"})
_TWICE = 2


def check(trace: Trace) -> Iterator[Reported]:
    """Training loaders that are gone through more than once, always in the order in which the data is stored."""
    # With open options off a program may do without: a loader's options that are only set for a device, say.
    if not trace.flags or any(_may_order(event) for event in trace.events(Kind.DRAW)) or _carries_state(trace):
        return
    loaders: dict[tuple[object, ...], list[Event]] = {}
    for built in training_loaders(trace):  # one that is built anew for each epoch gives its data in the same order, too
        loaders.setdefault((built.span, built.path, id(built.detail.get("dataset"))), []).append(built)
    for alike in loaders.values():
        begun = sum(epochs(trace, built.subject) for built in alike)
        if begun >= _TWICE and _in_order(alike[0].detail) and not _collected(trace, alike[0]):
            yield _reported(trace, alike[0])


def _may_order(draw: Event) -> bool:
    """Whether what is drawn may be the order of the items. PyTorch's ``randint`` makes tokens, classes and time steps, as a rule."""
    name: str = draw.detail.function
    return name != "torch.randint" and name.rpartition(".")[2] in _ORDERING


def _collected(trace: Trace, built: Event) -> bool:
    """Whether the call takes options that were put together elsewhere: other settings may add to them."""
    span = visible(built, trace.snapshot.contents)
    call, stands = call_at(trace.snapshot, span), around(trace.snapshot, span)
    scope = stands.function if stands is not None else None
    return call is not None and any(keyword.arg is None and not _is_written_out(keyword.value, scope) for keyword in call.keywords)


def _is_written_out(options: ast.expr, scope: ast.AST | None) -> bool:
    """Whether ``**options`` is a dictionary that the function around writes down in one place, and does nothing else with."""
    if not isinstance(options, ast.Name) or scope is None:
        return False
    named = [node for node in walk(scope) if isinstance(node, ast.Name) and node.id == options.id]
    made = [node.value for node in walk(scope) if isinstance(node, ast.Assign) and any(target in named for target in node.targets)]
    spread = [node.value for node in walk(scope) if isinstance(node, ast.keyword) and node.arg is None]
    match made:
        case [ast.Dict(keys=keys)] if None not in keys:
            return all(isinstance(node.ctx, ast.Store) or node in spread for node in named)
        case [ast.Call(func=ast.Name(id="dict"), args=[], keywords=given)] if all(each.arg for each in given):
            return all(isinstance(node.ctx, ast.Store) or node in spread for node in named)
    return False


def _in_order(options: dict[str, Value]) -> bool:
    """Whether it is told that nothing changes the order of data that is told."""
    dataset = options.get("dataset")
    sampler = options.get("sampler")
    if options.get("shuffle", False) not in (False, None) or options.get("batch_sampler") is not None:
        return False
    if sampler is not None and not (isinstance(sampler, Instance) and divides(sampler) and sampler.fields.get("shuffle") is False):
        return False
    if (
        not isinstance(dataset, Instance)
        or dataset.assumed
        or dataset.cls.has_base("torch.utils.data.IterableDataset")
        or dataset.cls.find("__iter__") is not MISSING
    ):
        return False
    return not _is_random(dataset) and not draws_anew(dataset) and options.get("batch_size", 1) is not None


def _is_random(dataset: Instance) -> bool:
    """Whether the data itself is drawn at random."""
    made = [tensor.made for value in dataset.fields.values() for given in tensors_in(value) for tensor in ancestors(given)]
    return any(each is not None and each.op in _RANDOM for each in made)


def _carries_state(trace: Trace) -> bool:
    """Whether a forward is given, or finds in the model, what a forward of an earlier batch made: then the order of the batches matters."""
    depth = min((len(event.context.stamp) for event in trace.events(Kind.BACKWARD)), default=0)
    return any(
        _is_of_an_earlier_batch(tensor, event.context.stamp, depth)
        for event in trace.events(Kind.FORWARD)
        for tensor in (*tensors_in(event.detail), *tensors_in(event.value))
    )


def _is_of_an_earlier_batch(given: Tensor, now: Stamp, depth: int) -> bool:
    """Whether a module made it, or what it was made of, in an earlier iteration of the ``depth`` loops in which the model learns."""
    todo, seen = [given], {given}
    while todo:
        tensor = todo.pop()
        made = tensor.made
        if made is None or tensor.span != made.span:  # the result of a forward that was walked before: what this one was given is asked about there
            continue
        earlier = any(old[0] == new[0] and old[1] != new[1] for old, new in zip(tensor.stamp[:depth], now, strict=False))
        if earlier and "module" in made.options:
            return True
        todo += [each for each in made.tensors if each not in seen]
        seen.update(todo)
    return False


def _reported(trace: Trace, built: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(built, files)
    begins = next(visible(event, files) for event in trace.events(Kind.ITERATE) if event.subject is built.subject)
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        "the training data is never shuffled: every epoch has the same batches in the order in which the data is stored, which is often sorted",
        (Evidence(span, "this loader keeps the order of the data"), Evidence(begins, "and a model learns from it in every epoch")),
    )
    sampler = built.detail.get("sampler")
    if isinstance(sampler, Instance):
        at = sampler.span
        told = call_at(trace.snapshot, at) if at is not None and at.path in files else None
        if at is None or told is None or not any(keyword.arg == "shuffle" for keyword in told.keywords):
            return Reported(replace(finding, no_fix_because="the sampler is told not to shuffle elsewhere"))
        return Reported(
            finding, Proposal("Does the order of the samples not matter? Then let the sampler shuffle them", Safety.REVIEW, (RemoveArgument(at, "shuffle"),))
        )
    if call_at(trace.snapshot, span) is None:
        return Reported(replace(finding, no_fix_because="the loader is built elsewhere"))
    title = "Does the order of the samples not matter? Then shuffle them in every epoch"
    return Reported(finding, Proposal(title, Safety.REVIEW, (SetArgument(span, "shuffle", "True"),)))


_EXAMPLE = """
import random
import torch
from torch.utils.data import DataLoader, Dataset

class Table(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {item}

def main(rows, held_out):
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Table(rows), batch_size=32{options}
    for epoch in range({epochs}):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            print(sum(torch.nn.functional.mse_loss(net(x), y).item() for x, y in DataLoader(Table(held_out))))
"""


def _example(options: str, item: str = "self.rows[i]", epochs: int = 10) -> str:
    return _EXAMPLE.format(options=options, item=item, epochs=epochs)


RULE = Rule(
    "unshuffled-training",
    Severity.WARNING,
    "every epoch trains on the same batches in the same order",
    __doc__,
    check,
    examples=(
        Bad(_example(")  # flagged"), fixed=_example(", shuffle=True)")),
        Good(_example(", shuffle=True)")),
        Good(_example(", sampler=torch.utils.data.RandomSampler(rows))")),
        Good(_example(")", item="random.choice(self.rows)")),
        Good(
            _example(", **options)")
            .replace("    loader =", '    options = {"shuffle": True} if torch.cuda.is_available() and resume is None else {}\n    loader =')
            .replace("(rows, held_out)", "(rows, held_out, resume)")
        ),
        Good(_example(")", epochs=1)),
    ),
)
