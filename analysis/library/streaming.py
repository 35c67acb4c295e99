"""WebDataset and other streams: pipelines that divide their shards themselves, and the loaders over them."""

from __future__ import annotations

from analysis.interpreter.values import Call, External, HostFunction, Instance, Symbol, Value
from analysis.library.domain import domain_of
from analysis.library.host_work import host_work
from analysis.library.knowledge import Example, Subject
from analysis.library.loading import LOADER

SUBJECT = Subject(
    examples=(
        Example(
            """
import webdataset as wds

data = wds.WebDataset("{0..9}.tar").shuffle(100).decode("pil").to_tuple("jpg", "cls").batched(8)
loader = wds.WebLoader(data, batch_size=None).with_epoch(10)
for image, label in loader:
    print(label.sum().item())
""",
            ("loader_built WebLoader", "iterate WebLoader", "item"),
        ),
    ),
)

_PIPELINE = SUBJECT.cls("webdataset.WebDataset", "torch.utils.data.IterableDataset")
_LOADER = SUBJECT.cls("webdataset.WebLoader", LOADER)
#: A pipeline whose every stage is named.
_BY_HAND = "webdataset.DataPipeline"
for _name in (_BY_HAND, "webdataset.FluidWrapper", "streaming.StreamingDataset", "litdata.StreamingDataset"):
    SUBJECT.cls(_name, "webdataset.WebDataset")
for _name in ("litdata.StreamingDataLoader",):
    SUBJECT.cls(_name, LOADER)


@_PIPELINE.method("__init__")
def _init(call: Call) -> Value:
    call.args[0].fields["pipeline: stages"] = tuple(call.args[1:])


def divides_by_worker(pipeline: Instance) -> bool:
    """Whether each worker has shards of its own; a pipeline that is put together by hand does what its stages say, and no more."""
    stages: tuple[Value, ...] = pipeline.fields.get("pipeline: stages", ())
    if pipeline.cls.dotted != _BY_HAND or not all(isinstance(each, (HostFunction, External, Symbol, str)) for each in stages):
        return True
    listed = any(_says(each, ("SimpleShardList",)) for each in stages)
    return not listed or any(_says(each, ("split_by_worker", "resampled", "ResampledShards")) for each in stages)


def _says(stage: Value, names: tuple[str, ...]) -> bool:
    match stage:
        case HostFunction(name=described) | External(dotted=described) | Symbol(why=described):
            return any(name in described for name in names)
    return False


@_PIPELINE.method("__getattr__")
def _stage(call: Call) -> Value:
    pipeline, name = call.args
    return HostFunction(name, lambda _inner: pipeline)


@_PIPELINE.method("__iter__")
def _samples(call: Call) -> Value:
    return (domain_of(call).autograd.plain("sample") for _ in range(domain_of(call).rehearsal.horizon.rounds))


@_LOADER.method("__getattr__")
def _loader_stage(call: Call) -> Value:
    loader, name = call.args
    return HostFunction(name, lambda _inner: loader)


#: A table of Hugging Face's that is read as a stream; workers of a loader share its files, ranks do not.
TABLE = "datasets.IterableDataset"
#: Of such a table: each rank has its part.
DIVIDED = "stream: divided between ranks"
_TABLE = SUBJECT.cls(TABLE, "torch.utils.data.IterableDataset")
_NAMES = """
map filter shuffle take skip with_format with_transform remove_columns rename_column rename_columns select_columns cast cast_column batch repeat add_column
"""
_SAME = frozenset(_NAMES.split())


@SUBJECT.function("datasets.load_dataset")
def _load_dataset(call: Call) -> Value:
    """A stream if it is asked for one, a table that is not known otherwise."""
    if call.kwargs.get("streaming") is True:
        return call.machine.instance(domain_of(call).library.cls(TABLE), call.span)
    return host_work(call, "datasets.load_dataset", lambda inner: domain_of(inner).casting.symbol("datasets.load_dataset()", inner.span, ()))


@_TABLE.method("__getitem__")
def _split(call: Call) -> Value:
    """``streams["train"]``."""
    return call.args[0]


@_TABLE.method("__getattr__")
def _of_table(call: Call) -> Value:
    table, name = call.args
    if name in _SAME:
        return HostFunction(name, lambda inner: _derived(inner, table))
    return domain_of(call).casting.symbol(f"datasets.{name}", call.span, ())


@_TABLE.method("shard")
def _shard(call: Call) -> Value:
    return _derived(call, call.args[0], divided=True)


@SUBJECT.function("datasets.distributed.split_dataset_by_node")
def _split_by_node(call: Call) -> Value:
    table = call.get(0, "dataset")
    return _derived(call, table, divided=True) if isinstance(table, Instance) and table.cls.dotted == TABLE else table


def _derived(call: Call, table: Instance, *, divided: bool = False) -> Instance:
    """Another view of the same stream; what a function of the program makes of it is not followed, but may ask for the rank."""
    made = call.machine.instance(table.cls, table.span or call.span)
    made.fields.update({DIVIDED: divided or table.fields.get(DIVIDED) is True, "stream: made by": (*table.fields.get("stream: made by", ()), *call.args)})
    return made


@_TABLE.method("__iter__")
def _rows(call: Call) -> Value:
    return (domain_of(call).autograd.plain("sample") for _ in range(domain_of(call).rehearsal.horizon.rounds))


@SUBJECT.below("webdataset")
def _other(dotted: str) -> Value:
    return HostFunction(dotted, lambda call: domain_of(call).casting.symbol(f"{dotted}()", call.span, ()))
