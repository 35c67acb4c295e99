"""Nothing seeds the random numbers of the run.

Initial weights, dropout, the order of the batches and splits of the data are drawn anew each time: a result cannot be repeated, and whether a change
helped cannot be told from luck. A split that is drawn without a seed also mixes validation data into the training of the next run.

**How to fix it.** `torch.manual_seed(seed)` at the start of the program, with `random.seed(seed)` and `numpy.random.seed(seed)` where those are used.

**What is not reported.** Programs that seed any generator anywhere, in a helper or through a framework's trainer too, even if only on request; functions
of which only a caller that is not here knows how the run began. Each program is reported once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Safety, Severity
from analysis.fixes.change import AddImport, Change, InsertBefore, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.library.randomness import Drawn
from analysis.library.tensor import Parameters
from analysis.rule import Bad, Good, Rule
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import frames, visible
from analysis.trace.reading import around

#: Modules with a global generator of their own, and how they are seeded.
_SEEDERS = {"numpy": "numpy.random.seed(0)", "random": "random.seed(0)"}
_MOST_OTHERS = 4
_DECLARING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CONSTANT = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
_WHAT = {
    Kind.DRAW: "random numbers are drawn here",
    Kind.LOADER_BUILT: "the order of the data is drawn here",
    Kind.OPTIMIZER_BUILT: "the parameters of this model start at random values",
}


def check(trace: Trace) -> Iterator[Reported]:
    """A script that trains, draws random numbers and never seeds them."""
    if trace.function or not trace.flags or any(True for _ in trace.events(Kind.SEED)):
        return
    trained = next(trace.events(Kind.STEP), None)
    drawn = [event for event in trace.events_in_order() if _draws(event)]
    if trained is not None and drawn:
        yield _reported(trace, drawn, trained)


def _draws(event: Event) -> bool:
    """Whether random numbers of a global generator are used: drawn, for an order, or as the first weights of a model."""
    match event.kind:
        case Kind.DRAW:
            return event.subject is None
        case Kind.LOADER_BUILT:
            return event.detail.get("shuffle") is True
        case Kind.OPTIMIZER_BUILT:
            return True
    return False


def _place(trace: Trace, first: Event) -> Span:
    """Where the first numbers are drawn: of a model's weights, where the model is built."""
    files = trace.snapshot.contents
    owners = first.value.owners if first.kind is Kind.OPTIMIZER_BUILT and isinstance(first.value, Parameters) else ()
    built = [each.span for each in owners if isinstance(each, Instance) and not each.assumed and each.span is not None and each.span.path in files]
    return built[0] if built else visible(first, files)


def _others(trace: Trace, drawn: list[Event], first: Span) -> list[Span]:
    """Other places in the file of the first one where numbers are drawn."""
    places = (visible(event, trace.snapshot.contents) for event in drawn if event.kind is Kind.DRAW)
    return [span for span in dict.fromkeys(places) if span.path == first.path and span != first][:_MOST_OTHERS]


def _reported(trace: Trace, drawn: list[Event], trained: Event) -> Reported:
    files, first = trace.snapshot.contents, drawn[0]
    span = _place(trace, first)
    what = _WHAT[first.kind]
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.MEDIUM,
        span,
        f"nothing seeds this run: {what}, and each run gives another result that cannot be repeated",
        (
            Evidence(span, what),
            *(Evidence(other, "more are drawn here") for other in _others(trace, drawn, span)),
            Evidence(visible(trained, files), "and a model is trained with them"),
        ),
    )
    outermost = frames(first)[0]
    statement = _beginning(trace, outermost)
    if statement is None or outermost.path not in files:
        return Reported(replace(finding, no_fix_because="where the program begins is not told"))
    packages = {detail.function.partition(".")[0] for event in trace.events(Kind.DRAW) if isinstance(detail := event.detail, Drawn) and event.subject is None}
    modules = [module for module in ("random", "numpy") if module in packages]
    imports: tuple[Change, ...] = tuple(AddImport(outermost.path, module) for module in ("torch", *modules))
    lines = ("torch.manual_seed(0)", *(_SEEDERS[module] for module in modules))
    return Reported(finding, Proposal("Should every run give the same result? Then seed it", Safety.REVIEW, (InsertBefore(statement, lines), *imports)))


def _beginning(trace: Trace, place: Span) -> Span | None:
    """The first statement of the program that does something, on the way to ``place``: what is initialised above it would not be seeded."""
    source, stands = trace.snapshot.source(place.path), around(trace.snapshot, place)
    if not isinstance(source, SourceFile) or stands is None or not stands.statements:
        return None
    outermost = stands.statements[0]
    first = next((each for each in source.tree.body if each is outermost or (not isinstance(each, _DECLARING) and not _is_plain(each))), outermost)
    if first is outermost and isinstance(first, ast.If) and len(stands.statements) > 1:  # the main guard
        first = next((each for each in first.body if not isinstance(each, _DECLARING)), stands.statements[1])
    return source.span(first)


def _is_plain(statement: ast.stmt) -> bool:
    """Whether it is a docstring, a constant or a block that something else decides about."""
    match statement:
        case ast.Expr(value=value) | ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return all(isinstance(node, _CONSTANT) for node in ast.walk(value))
        case _:
            return isinstance(statement, (ast.If, ast.Try))


_EXAMPLE = """
import random
import torch

def main(rows):
    {seed}
    random.shuffle(rows){mark}
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in rows:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
{start}
"""
_START = '\nif __name__ == "__main__":\n    main(torch.load("rows.pt"))'
_SEEDED = '\nif __name__ == "__main__":\n    torch.manual_seed(0)\n    random.seed(0)\n    main(torch.load("rows.pt"))'

RULE = Rule(
    "unseeded-run",
    Severity.NOTICE,
    "nothing seeds the random numbers of the run",
    __doc__,
    check,
    examples=(
        Bad(
            _EXAMPLE.format(seed="rows = list(rows)", mark="  # flagged", start=_START),
            fixed=_EXAMPLE.format(seed="rows = list(rows)", mark="", start=_SEEDED),
        ),
        Bad(
            """
import torch

WIDTH = 8
net = torch.nn.Linear(WIDTH, 1)  # flagged
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in torch.load("rows.pt"):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
""",
            fixed="""
import torch

WIDTH = 8
torch.manual_seed(0)
net = torch.nn.Linear(WIDTH, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in torch.load("rows.pt"):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
""",
        ),
        Good(_EXAMPLE.format(seed="torch.manual_seed(1)", mark="", start=_START)),
        Good(_EXAMPLE.format(seed="rows = list(rows)", mark="", start="")),
        Good(_EXAMPLE.format(seed="seed_everything(1)", mark="", start="\nfrom toolbox import seed_everything\n" + _START)),
    ),
)
