"""Every worker process gets a copy of the same random generator.

A generator that the data set builds in its constructor is copied into each worker of the loader, with its state: all workers draw the same
numbers, and with workers that start anew every epoch, the same ones again in each epoch. PyTorch and Python seed their own global generators in every worker;
a generator of one's own they do not know. Augmentation is weaker than it looks, and nothing shows it. A stream that builds its generator from one and the
same seed whenever it is read gives as many copies of what it draws as there are workers.

A `worker_init_fn` that draws its seed from NumPy's global generator does not help before PyTorch 1.9: until then the workers got that generator's state as
the main process had it, the same one every epoch. It is reported where the project says that it runs with such a release.

**How to fix it.** Build the generator in the worker, at the first item: `np.random.default_rng(torch.initial_seed() % 2**32)`; or one per item, from a seed
and the index; or give the loader a `worker_init_fn` that builds it.

**What is not reported.** Loaders without workers or with a `worker_init_fn`; generators that are built while an item is made; data sets that ask
`get_worker_info()`; the global generators of `random`, NumPy and PyTorch, which current PyTorch seeds in each worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Function, Instance, Symbol, Value
from analysis.library.randomness import BUILT_WHILE_LOADING, SEEDED, Drawn
from analysis.pins import runs_below
from analysis.rule import Bad, Good, Rule
from analysis.rules._worker_seeds import copied_seed, one_seed, seeded_by_attributes
from analysis.source import SourceFile, Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import text

#: Words in the source of a data set by which it may tell its workers apart.
_WORDS = (b"worker_info", b"worker_id", b"initial_seed")
#: Ends of the names of functions that put things in an order.
_ORDERING = ("shuffle", "permutation", "permuted", "sample", "choice")
_DEEPEST = 8
_STREAM = "torch.utils.data.IterableDataset"
#: Since this release of PyTorch workers seed NumPy's global generator by themselves.
_SEEDED_SINCE = (1, 9)


def check(trace: Trace) -> Iterator[Reported]:
    """Generators that were built before the loader and are drawn from while it reads items in workers."""
    yield from _copied_seeds(trace)
    yield from _same_seeds(trace)
    built = [event for event in trace.events(Kind.LOADER_BUILT) if _copies(event.detail)]
    told: set[int] = set()
    for draw in trace.events(Kind.DRAW):
        drawn: Drawn = draw.detail
        generator, dataset = draw.subject, drawn.loading
        if dataset is None or not isinstance(generator, Instance) or id(generator) in told:
            continue
        built_inside = generator.fields.get(BUILT_WHILE_LOADING) is not None
        if built_inside and not _same_in_each(trace, dataset, generator, drawn.function):
            continue
        loader = next((event for event in built if _holds(event.detail.get("dataset"), dataset)), None)
        if loader is not None and (built_inside or not _asks(trace, dataset)):
            told.add(id(generator))
            yield _reported(trace, generator, draw, loader)


def _same_in_each(trace: Trace, dataset: Instance, generator: Instance, function: str) -> bool:
    """Whether a generator that a stream builds when it begins to be read has one seed in all workers, and nothing tells them apart.

    Where the workers divide the data they have to draw one order of the whole: what is drawn for the samples themselves is to differ all the same.
    """
    if not dataset.cls.has_base(_STREAM) or not isinstance(generator.fields.get(SEEDED), int):
        return False
    path = dataset.cls.span.path if dataset.cls.span is not None else ""
    told_apart = any(word in trace.snapshot.contents.get(path, b"") for word in _WORDS)
    return not told_apart or (not function.endswith(_ORDERING) and seeded_by_attributes(trace.snapshot, dataset.cls.span, generator.span))


def _copied_seeds(trace: Trace) -> Iterator[Reported]:
    """Seeds of workers that are drawn from the state which all of them were given."""
    told: set[Span] = set()
    for event in trace.events(Kind.LOADER_BUILT):
        seeds = event.detail.get("worker_init_fn")
        span = copied_seed(seeds) if isinstance(seeds, Function) else None
        if span is not None and span not in told and span.path in trace.snapshot.contents and runs_below(trace.snapshot, "torch", _SEEDED_SINCE):
            told.add(span)
            yield Reported(
                Finding(
                    RULE.name,
                    RULE.severity,
                    Confidence.HIGH,
                    span,
                    f"`{text(trace.snapshot, span)}` draws from the state that every worker is given: before PyTorch 1.9 it is the same in each epoch",
                    (
                        Evidence(visible(event, trace.snapshot.contents), "the workers of this loader are seeded by a function of the program"),
                        Evidence(span, "which draws the seed from NumPy's global generator"),
                    ),
                    no_fix_because="the seed has to come from torch.initial_seed(), which differs by worker and epoch: `torch.initial_seed() % 2**32`",
                )
            )


def _same_seeds(trace: Trace) -> Iterator[Reported]:
    """Workers that are all seeded with one number, before they draw from the generator."""
    told: set[Span] = set()
    loaders = [event for event in trace.events(Kind.LOADER_BUILT) if isinstance(event.detail.get("worker_init_fn"), Function) and _has_workers(event.detail)]
    for draw in trace.events(Kind.DRAW) if loaders else ():
        dataset = draw.detail.loading
        loader = next((event for event in loaders if dataset is not None and _holds(event.detail.get("dataset"), dataset)), None)
        span = one_seed(loader.detail["worker_init_fn"], draw.detail.function.partition(".")[0]) if loader is not None and draw.subject is None else None
        if loader is None or span is None or span in told or span.path not in trace.snapshot.contents:
            continue
        told.add(span)
        chain = (
            Evidence(visible(loader, trace.snapshot.contents), "each worker of this loader is seeded by a function of the program"),
            Evidence(span, "with the same number in all of them"),
            Evidence(visible(draw, trace.snapshot.contents), "and here each of them draws"),
        )
        says = f"`{text(trace.snapshot, span)}` puts all workers into the same state: they draw the same numbers, and the same ones again in each epoch"
        why = "the seed has to differ by worker and epoch: `torch.initial_seed() % 2**32` does"
        yield Reported(Finding(RULE.name, RULE.severity, Confidence.HIGH, span, says, chain, no_fix_because=why))


def _has_workers(options: dict[str, Value]) -> bool:
    workers = options.get("num_workers", 0)
    return isinstance(workers, Symbol) or (isinstance(workers, int) and workers > 1)


def _copies(options: dict[str, Value]) -> bool:
    """Whether the loader has workers and nothing that tells them apart."""
    workers = options.get("num_workers", 0)
    return options.get("worker_init_fn") is None and (isinstance(workers, Symbol) or (isinstance(workers, int) and workers > 0))


def _holds(outer: Value, dataset: Instance) -> bool:
    """Whether the loader's data set is ``dataset`` or wraps it."""
    for _ in range(_DEEPEST):
        if outer is dataset or not isinstance(outer, Instance):
            return outer is dataset
        outer = outer.fields.get("dataset")
    return False


def _asks(trace: Trace, dataset: Instance) -> bool:
    for cls in dataset.cls.mro:
        source = trace.snapshot.source(cls.span.path) if cls.span is not None and cls.span.path in trace.snapshot.contents else None
        if isinstance(source, SourceFile) and cls.span is not None and any(word in source.content[cls.span.start : cls.span.end] for word in _WORDS):
            return True
    return False


def _reported(trace: Trace, generator: Instance, draw: Event, loader: Event) -> Reported:
    files = trace.snapshot.contents
    at = visible(loader, files)
    span = generator.span if generator.span is not None and generator.span.path in files else visible(draw, files)
    known, early = isinstance(loader.detail.get("num_workers"), int), generator.fields.get(BUILT_WHILE_LOADING) is None
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.HIGH if known else Confidence.MEDIUM,
        span,
        f"each worker of the loader {'gets' if early else 'builds'} a copy of this generator (`{text(trace.snapshot, span)}`) in the same state: "
        "all of them draw the same numbers",
        (
            Evidence(span, "the generator is built before the workers start" if early else "each worker builds it from the same seed"),
            Evidence(at, "this loader copies the data set, and the generator with it, into each worker" if early else "this loader has several workers"),
            Evidence(visible(draw, files), "and here each of them draws from its copy"),
        ),
    )
    return Reported(replace(finding, no_fix_because="the generator has to be built in the worker: at the first item, per item, or in a worker_init_fn"))


_EXAMPLE = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, x):
        self.x = x
        self.rng = {built}

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
{item}

def train(x):
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(Noisy(x), 16, shuffle=True, num_workers={workers}):
        optimizer.zero_grad()
        net(batch).mean().backward()
        optimizer.step()
"""
_DRAW = "        return self.x[i] + self.rng.normal()"


def _example(built: str, item: str = _DRAW, workers: str = "4") -> str:
    return _EXAMPLE.format(built=built, item=item, workers=workers)


RULE = Rule(
    "worker-rng-copies",
    Severity.WARNING,
    "every worker process gets a copy of the same random generator",
    __doc__,
    check,
    examples=(
        Bad(_example("np.random.default_rng(0)  # flagged")),
        Bad(_example("np.random.RandomState(0)  # flagged")),
        Good(_example("np.random.default_rng(0)", workers="0")),
        Good(_example("np.random.default_rng(0)", workers="4, worker_init_fn=reseed")),
        Good(_example("None", "        if self.rng is None:\n            self.rng = np.random.default_rng(torch.initial_seed() % 2**32)\n" + _DRAW)),
        Good(_example("7", "        return self.x[i] + np.random.default_rng(self.rng + i).normal()")),
    ),
)
