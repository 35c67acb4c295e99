"""Data loaders, datasets and samplers: what one epoch gives, and who decides the order."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.signals import GuestRaise
from analysis.interpreter.values import MISSING, Call, Function, GuestDict, GuestList, HostFunction, Instance, Symbol, Value
from analysis.library.dividing import differs_by_rank
from analysis.library.domain import TraceDomain, domain_of
from analysis.library.host_work import DECODES
from analysis.library.knowledge import Example, Subject
from analysis.library.optimizers import PREPARED
from analysis.library.randomness import LOADING
from analysis.library.recording import emit
from analysis.library.sampling import order
from analysis.trace.events import Kind

LOADER = "torch.utils.data.DataLoader"
#: Into how many parts a framework will divide the loaders that it is given.
SHARDS = "loading: shards"
DATASET = "torch.utils.data.Dataset"
SAMPLER = "torch.utils.data.Sampler"

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

data = TensorDataset(torch.zeros(8, 2), torch.zeros(8))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=2, sampler=sampler)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in loader:
        print(x.sum().item())
""",
            ("loader_built DataLoader", "set_epoch DistributedSampler", "iterate DataLoader", "item", "set_epoch DistributedSampler"),
        ),
    ),
)

#: Names of a loader's arguments in their order.
_ARGUMENTS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory", "drop_last")

_LOADER = SUBJECT.cls(LOADER)
SUBJECT.alias("torch.utils.data", "torch.utils.data.dataloader", "torch.utils.data.dataset", "torch.utils.data.sampler", "torch.utils.data.distributed")
SUBJECT.cls("torchdata.stateful_dataloader.StatefulDataLoader", LOADER)
SUBJECT.cls("torch_geometric.loader.DataLoader", LOADER)
SUBJECT.cls("torch_geometric.data.DataLoader", LOADER)
SUBJECT.cls("monai.data.DataLoader", LOADER)


@_LOADER.method("__init__")
def _init(call: Call) -> Value:
    loader = call.args[0]
    options = {**dict(zip(_ARGUMENTS, call.args[1:], strict=False)), **call.kwargs}
    loader.fields.update(options)
    loader.fields["loader: options"] = options
    emit(call.machine, Kind.LOADER_BUILT, subject=loader, value=options.get("dataset"), detail=options)


@_LOADER.method("__iter__")
def _iterate(call: Call) -> Value:
    loader, domain = call.args[0], domain_of(call)
    emit(call.machine, Kind.ITERATE, subject=loader)
    order(domain, call, loader)
    sample = loader.fields.get("loader: sample", MISSING)
    if sample is MISSING:
        sample = loader.fields["loader: sample"] = _batch_of(domain, loader, call)
    return _epoch(domain, sample, call, domain.rehearsal.horizon.rounds)


def _epoch(domain: TraceDomain, sample: Value, call: Call, batches: int) -> Iterator[Value]:
    for _ in range(batches):
        before, domain.machine.span = domain.machine.span, call.span
        batch = _fresh(domain, sample, call, call.args[0])
        domain.machine.span = before
        yield batch


def _batch_of(domain: TraceDomain, loader: Instance, call: Call) -> Value:
    """What a batch looks like: the dataset's item, collated."""
    dataset, collate = loader.fields.get("dataset"), loader.fields.get("collate_fn")
    item = sample_of(domain, dataset, call)
    if isinstance(collate, Symbol) or (item is MISSING and collate is None):
        return MISSING
    if collate is not None:
        samples = GuestList([domain.casting.symbol("a sample", call.span, ()) if item is MISSING else item] * 2)
        samples.span, samples.stamp = call.span, call.machine.stamp
        try:
            return call.machine.call(collate, [samples], {}, call.span)
        except GuestRaise:
            return MISSING
    return item


def sample_of(domain: TraceDomain, dataset: Value, call: Call) -> Value:
    """One item of a dataset, or ``MISSING`` if its source is not at hand."""
    if not isinstance(dataset, Instance):
        return MISSING
    if "dataset: items" in dataset.fields:
        return dataset.fields["dataset: items"]
    inner = dataset.fields.get("dataset")
    if isinstance(inner, Instance) and not isinstance(dataset.cls.find("__getitem__"), Function):
        return sample_of(domain, inner, call)
    before = domain.machine.state.get(LOADING)
    domain.machine.state[LOADING] = dataset
    try:
        if isinstance(dataset.cls.find("__getitem__"), Function):
            index = domain.casting.symbol("an index", call.span, ())
            return call.machine.getitem(dataset, index, call.span)
        if isinstance(dataset.cls.find("__iter__"), Function):
            return next(iter(call.machine.iterate(dataset, call.span)), MISSING)
    except GuestRaise:
        return MISSING
    finally:
        domain.machine.state[LOADING] = before
    return MISSING


def _fresh(domain: TraceDomain, sample: Value, call: Call, loader: Instance | None = None) -> Value:
    """The same structure with new tensors, which know their loader; numbers and arrays become tensors, as ``default_collate`` makes them.

    ``whole``: the structure of a batch is not known, so that what stands for it may be any object.
    """
    return _renewed(domain, sample, call, loader, whole=sample is MISSING or isinstance(sample, Symbol))


def _renewed(domain: TraceDomain, sample: Value, call: Call, loader: Instance | None, *, whole: bool) -> Value:
    match sample:
        case tuple() | list():
            items = GuestList(_renewed(domain, item, call, loader, whole=False) for item in sample)
            items.span, items.stamp = call.span, call.machine.stamp
            return items
        case dict():
            entries = GuestDict({key: _renewed(domain, item, call, loader, whole=False) for key, item in sample.items()})
            entries.span, entries.stamp = call.span, call.machine.stamp
            return entries
        case str() | None | Instance():
            return sample
    batch = domain.autograd.made("batch", (), {"loader": loader, "whole": whole}, cut=True)
    batch.rank_varying = loader is not None and differs_by_rank(domain, loader) and domain.is_distributed()
    return batch


@_LOADER.method("__len__")
def _length(call: Call) -> Value:
    """The batches of an epoch; before a framework has sharded the loader, those of all ranks."""
    rounds = domain_of(call).rehearsal.horizon.rounds
    return rounds if PREPARED in call.args[0].fields else rounds * call.machine.state.get(SHARDS, 1)


@_LOADER.method("__getattr__")
def _attribute(call: Call) -> Value:
    loader, name = call.args
    domain = domain_of(call)
    if name in {"sampler", "batch_sampler"}:
        shuffled = loader.fields.get("shuffle") is True
        made = Instance(domain.library.cls("torch.utils.data.RandomSampler" if shuffled else "torch.utils.data.SequentialSampler"), loader.span, loader.stamp)
        loader.fields[name] = made
        return made
    return domain.casting.symbol(f"loader.{name}", call.span, ())


_DATASET = SUBJECT.cls(DATASET)
SUBJECT.cls("torch.utils.data.IterableDataset", DATASET)
_TENSORS = SUBJECT.cls("torch.utils.data.TensorDataset", DATASET)
_SUBSET = SUBJECT.cls("torch.utils.data.Subset", DATASET)
_CONCAT = SUBJECT.cls("torch.utils.data.ConcatDataset", DATASET)
SUBJECT.cls("torch.utils.data.ChainDataset", "torch.utils.data.ConcatDataset")
_UNKNOWN = SUBJECT.cls("unknown.Dataset", DATASET)
SUBJECT.cls("unknown.Stream", "torch.utils.data.IterableDataset")


@_DATASET.method("__init__")
def _dataset(_call: Call) -> Value:
    return None


@_DATASET.method("__add__")
def _add(call: Call) -> Value:
    return call.machine.construct(domain_of(call).library.cls("torch.utils.data.ConcatDataset"), [list(call.args)], {}, call.span)


@_TENSORS.method("__init__")
def _tensor_dataset(call: Call) -> Value:
    call.args[0].fields.update({"tensors": tuple(call.args[1:]), "dataset: items": tuple(call.args[1:])})


@_SUBSET.method("__init__")
def _subset(call: Call) -> Value:
    call.args[0].fields.update({"dataset": call.get(1, "dataset"), "indices": call.get(2, "indices")})


@_CONCAT.method("__init__")
def _concat(call: Call) -> Value:
    parts = call.get(1, "datasets", ())
    items = [] if isinstance(parts, Symbol) else call.machine.items(parts, call.span)
    call.args[0].fields.update({"datasets": items, "dataset": items[0] if items else None})


for _declared in (_TENSORS, _SUBSET, _CONCAT, _UNKNOWN):

    @_declared.method("__len__")
    def _dataset_length(call: Call) -> Value:
        return domain_of(call).casting.symbol("the number of samples", call.span, ())

    @_declared.method("__getitem__")
    def _dataset_item(call: Call) -> Value:
        sample = sample_of(domain_of(call), call.args[0], call)
        return domain_of(call).autograd.plain("sample") if sample is MISSING else sample


@_UNKNOWN.method("__init__")
def _unknown_dataset(call: Call) -> Value:
    call.args[0].fields["dataset: arguments"] = (tuple(call.args[1:]), dict(call.kwargs))


@SUBJECT.below("torchvision.datasets", "torchaudio.datasets", "torch_geometric.datasets", "torchtext.datasets")
def _known_dataset(dotted: str) -> Value:
    def run(call: Call) -> Value:
        kind = "unknown.Stream" if dotted.startswith("torchtext.") else "unknown.Dataset"
        made = call.machine.construct(domain_of(call).library.cls(kind), call.args, call.kwargs, call.span)
        made.fields[DECODES] = dotted.rpartition(".")[2] in _OF_FILES
        return made

    return HostFunction("dataset", run)


_READERS = """
ImageFolder DatasetFolder ImageNet CocoDetection CocoCaptions Places365 CelebA VOCDetection VOCSegmentation Cityscapes Flickr8k Flickr30k OxfordIIITPet
Food101 StanfordCars Flowers102 INaturalist Caltech101 Caltech256 Kinetics UCF101 HMDB51 LIBRISPEECH SPEECHCOMMANDS LJSPEECH LIBRITTS COMMONVOICE
"""
#: Data sets of libraries that open and decode a file for each item.
_OF_FILES = frozenset(_READERS.split())


@SUBJECT.function("torch.utils.data.random_split")
def _split(call: Call) -> Value:
    lengths = call.get(1, "lengths")
    count = len(lengths) if isinstance(lengths, (list, tuple)) else 2
    cls = domain_of(call).library.cls("torch.utils.data.Subset")
    return [call.machine.construct(cls, [call.get(0, "dataset"), None], {}, call.span) for _ in range(count)]


@SUBJECT.function("torch.utils.data.get_worker_info")
def _worker_info(call: Call) -> Value:
    return domain_of(call).casting.symbol("the worker's info", call.span, ())


@SUBJECT.function("torch.utils.data.default_collate", "torch.utils.data._utils.collate.default_collate")
def _collate(call: Call) -> Value:
    items = call.machine.items(call.args[0], call.span)
    return _fresh(domain_of(call), items[0], call) if items else domain_of(call).autograd.plain("batch")


_SAMPLER = SUBJECT.cls(SAMPLER)
SUBJECT.subclasses(SAMPLER, "torch.utils.data", "RandomSampler SequentialSampler SubsetRandomSampler WeightedRandomSampler BatchSampler DistributedSampler")

SUBJECT.alias("torch.utils.data.DistributedSampler", "torchdata.stateful_dataloader.sampler.StatefulDistributedSampler")


@_SAMPLER.method("__init__")
def _sampler(call: Call) -> Value:
    sampler = call.args[0]
    names = ("dataset", "num_replicas", "rank", "shuffle", "seed", "drop_last") if sampler.cls.has_base("torch.utils.data.DistributedSampler") else ("sampler",)
    options = {**dict(zip(names, call.args[1:], strict=False)), **call.kwargs}
    sampler.fields.update(options)
    sampler.fields["sampler: options"] = options
    if sampler.cls.has_base("torch.utils.data.DistributedSampler"):
        emit(call.machine, Kind.SAMPLER_BUILT, subject=sampler, value=options.get("dataset"))


@_SAMPLER.method("__iter__")
def _indices(call: Call) -> Value:
    return call.machine.domain.unknown_items(call.machine, call.args[0], call.span)


@_SAMPLER.method("__len__")
def _sampler_length(call: Call) -> Value:
    return domain_of(call).casting.symbol("the number of samples", call.span, ())


@SUBJECT.classes["torch.utils.data.DistributedSampler"].method("set_epoch")
def _set_epoch(call: Call) -> Value:
    emit(call.machine, Kind.SET_EPOCH, subject=call.args[0], detail=call.get(1, "epoch"))
