"""Every worker yields the whole stream.

A `DataLoader` gives each of its workers a copy of an `IterableDataset`, and each copy runs `__iter__` from the beginning: with `num_workers=6` every
sample comes six times in an epoch. Under `DistributedDataParallel` each rank does the same once more. An epoch is that many times as long as it should be and
nothing complains; in evaluation the numbers look right.

**How to fix it.** Ask `torch.utils.data.get_worker_info()` in `__iter__` and yield every `num_workers`-th item from `id` on (over the workers of all ranks), or
divide the list of files so.

**What is not reported.** Streams that draw at random or never end; that ask for their shard or rank, or for their worker where there is one rank; a
`worker_init_fn`; WebDataset; Hugging Face's streams between workers, which share their files (ranks do not); loaders that Accelerate, Lightning or another
framework has prepared: they divide by themselves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.values import Function, Instance, Value
from analysis.library.streaming import DIVIDED, TABLE, divides_by_worker
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import confidence_in
from analysis.rules._ranks import depends_on_rank
from analysis.rules._samplers import picks_by_rank, prepared
from analysis.rules._worlds import several_ranks
from analysis.source import SourceFile, Span
from analysis.syntax import walk
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible

_STREAM = "torch.utils.data.IterableDataset"
#: Words in a stream's class by which it may divide itself, or is not meant to be the same everywhere.
_WORDS = ("shard", "split_", "rand", "while True", "while 1", "islice", "load_dataset", "webdataset", "cycle")
#: The word by which it divides itself between the workers of one rank.
_WORKERS = "worker"
#: A comment without quotes: within a string a hash is none.
_COMMENT = re.compile(r"#[^'\"\n]*$", re.MULTILINE)


def check(trace: Trace) -> Iterator[Reported]:
    """Streams that nothing divides between the workers of their loader, or between ranks."""
    told: set[Span] = set()
    for built in trace.events(Kind.LOADER_BUILT):
        stream = built.detail.get("dataset")
        if isinstance(stream, Instance) and _shares_shards(built, stream):
            told.add(built.span)
            yield _reported_pipeline(trace, built, stream)
            continue
        if isinstance(stream, Instance) and stream.cls.dotted == TABLE:
            if _is_read_whole(trace, built, stream) and built.span not in told:
                told.add(built.span)
                yield _reported_table(trace, built, stream)
            continue
        whole = _reader(trace, stream)
        reader = whole or _rank_reader(trace, stream)
        if reader is None or not isinstance(stream, Instance) or prepared(built.subject) or built.detail.get("worker_init_fn") is not None:
            continue
        span = _first_item(reader)
        workers = built.detail.get("num_workers", 0)
        if span in told or _reads_a_stream(stream):
            continue
        if isinstance(workers, int) and workers > 1 and not _speaks(trace, stream, (_WORKERS,)):
            told.add(span)
            yield _reported(trace, built, stream, span, f"each of the loader's {workers} workers", f"every sample comes {workers} times")
        elif whole is not None and _averages(trace) and built.context.rank_guard is None and not depends_on_rank(trace.snapshot, stream):
            told.add(span)
            yield _reported(trace, built, stream, span, "each rank", "every rank trains on all of it")


def _shares_shards(built: Event, stream: Instance) -> bool:
    """Whether several workers run a pipeline that gives each of them all shards."""
    workers = built.detail.get("num_workers", 0)
    return isinstance(workers, int) and workers > 1 and not divides_by_worker(stream)


def _is_read_whole(trace: Trace, built: Event, stream: Instance) -> bool:
    """Whether each rank reads all rows of a table that is streamed."""
    averaged = several_ranks(trace) and any(event.detail in {"ddp", "fsdp", "fsdp2"} for event in trace.events(Kind.WRAP))
    divided = stream.fields.get(DIVIDED) is True or depends_on_rank(trace.snapshot, stream) or depends_on_rank(trace.snapshot, built.detail)
    return averaged and built.context.rank_guard is None and not prepared(built.subject) and not divided


def _reported_table(trace: Trace, built: Event, stream: Instance) -> Reported:
    files = trace.snapshot.contents
    span = visible(built, files)
    loaded = [Evidence(stream.span, "the rows are streamed")] if stream.span is not None and stream.span.path in files else []
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(stream),
        span,
        "each rank reads all rows of this stream: nothing divides it between the ranks, and gradients are averaged over the same samples",
        (*loaded, Evidence(span, "every rank has a loader over all of it")),
        no_fix_because="the stream has to go through datasets.distributed.split_dataset_by_node with the rank and the number of ranks",
    )
    return Reported(finding)


def _reported_pipeline(trace: Trace, built: Event, stream: Instance) -> Reported:
    span = stream.span if stream.span is not None and stream.span.path in trace.snapshot.contents else visible(built, trace.snapshot.contents)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(stream),
        span,
        "each of the loader's workers reads all shards of this pipeline: no stage of it divides them between the workers",
        (Evidence(visible(built, trace.snapshot.contents), "the loader runs the pipeline in several workers"),),
        no_fix_because="webdataset.split_by_worker belongs behind the list of shards, and before they are opened",
    )
    return Reported(finding)


def _averages(trace: Trace) -> bool:
    """Whether the program runs on several ranks for sure, and averages their gradients."""
    return several_ranks(trace) and (any(event.detail in {"ddp", "fsdp", "fsdp2"} for event in trace.events(Kind.WRAP)) or _by_framework(trace))


def _by_framework(trace: Trace) -> bool:
    """Whether a framework that owns the loop was told to run on several ranks."""
    return trace.distributed and any(event.span.path not in trace.snapshot.contents for event in trace.events(Kind.INIT_DISTRIBUTED))


def _reader(trace: Trace, stream: Value) -> Function | None:
    """The stream's ``__iter__``, if nothing in its class speaks of dividing."""
    if not isinstance(stream, Instance) or not stream.cls.has_base(_STREAM):
        return None
    if _speaks(trace, stream, _WORDS):
        return None
    found = stream.cls.find("__iter__")
    return found if isinstance(found, Function) else None


def _rank_reader(trace: Trace, stream: Value) -> Function | None:
    """The ``__iter__`` of a stream that takes this rank's part of what it reads, and speaks of no other way to divide it."""
    if not isinstance(stream, Instance) or not stream.cls.has_base(_STREAM) or not picks_by_rank(trace.snapshot, stream):
        return None
    found = stream.cls.find("__iter__")
    return found if isinstance(found, Function) and not _speaks(trace, stream, (*(set(_WORDS) - {"islice"}), _WORKERS)) else None


def _speaks(trace: Trace, stream: Instance, words: tuple[str, ...]) -> bool:
    """Whether the source of its class, or of one that it builds on, holds any of ``words``: in code, not in what it says of itself."""
    code = [_code(trace, cls.span) for cls in stream.cls.mro if cls.span is not None]
    return any(word in each for each in code for word in words)


def _code(trace: Trace, span: Span) -> str:
    """A class without its comments and the strings that stand alone."""
    source = trace.snapshot.source(span.path)
    if not isinstance(source, SourceFile):
        return ""
    written = source.text(span)
    for node in walk(source.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and span.start <= (said := source.span(node)).start < span.end:
            written = written.replace(source.text(said), "")
    return _COMMENT.sub("", written)


def _reads_a_stream(stream: Instance) -> bool:
    """Whether it hands on what another data set yields, which may divide itself."""
    return any(isinstance(value, Instance) for value in stream.fields.values())


def _first_item(reader: Function) -> Span:
    """What the stream goes over: the source of its first loop, or else its first ``yield``."""
    nodes = sorted((node for node in ast.walk(reader.node) if isinstance(node, (ast.For, ast.Yield, ast.YieldFrom))), key=lambda node: node.lineno)
    first = nodes[0] if nodes else reader.node
    return reader.module.file.span(first.iter if isinstance(first, ast.For) else first)


def _reported(trace: Trace, built: Event, stream: Instance, span: Span, who: str, effect: str) -> Reported:
    place = visible(built, trace.snapshot.contents)
    return Reported(
        Finding(
            RULE.name,
            RULE.severity,
            min(confidence_in(stream), Confidence.MEDIUM if trace.undecided(built) else Confidence.HIGH),
            span,
            f"{who} yields all that comes from here on: {effect}",
            (Evidence(place, "the loader that reads the stream"), Evidence(span, "nothing asks which worker or rank this is")),
            no_fix_because="which items belong to which worker depends on what the stream is made of: files, lines or records",
        )
    )


_EXAMPLE = """
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

class Lines(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        {loop}
            yield torch.tensor(row)

def train(net, rows):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Lines(rows), batch_size=8, num_workers={workers}):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""

_PIPELINE = """
import torch
import webdataset as wds

data = wds.DataPipeline({mark}
    wds.SimpleShardList("{{00..63}}.tar"), {stage}wds.tarfile_to_samples(), wds.shuffle(100), wds.decode("pil"), wds.to_tuple("jpg", "cls"), wds.batched(8)
)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in wds.WebLoader(data, batch_size=None, num_workers=4):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""

RULE = Rule(
    "duplicated-iterable",
    Severity.ERROR,
    "every worker yields the whole stream",
    __doc__,
    check,
    examples=(
        Bad(_EXAMPLE.format(loop="for row in self.rows:  # flagged", workers=4)),
        Bad(_PIPELINE.format(mark="  # flagged", stage="")),
        Good(_PIPELINE.format(mark="", stage="wds.split_by_worker, ")),
        Good(_EXAMPLE.format(loop="for row in self.rows:", workers=0)),
        Good(_EXAMPLE.format(loop="worker = get_worker_info()\n        for row in self.rows[worker.id :: worker.num_workers]:", workers=4)),
    ),
)
