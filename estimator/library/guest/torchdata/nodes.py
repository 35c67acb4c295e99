"""``torchdata.nodes``: sources, mappings and batches, one after another."""

from preflight_host import loader_built


class StopCriteria:
    CYCLE_UNTIL_ALL_DATASETS_EXHAUSTED = "CYCLE_UNTIL_ALL_DATASETS_EXHAUSTED"
    ALL_DATASETS_EXHAUSTED = "ALL_DATASETS_EXHAUSTED"
    FIRST_DATASET_EXHAUSTED = "FIRST_DATASET_EXHAUSTED"
    CYCLE_FOREVER = "CYCLE_FOREVER"


class BaseNode:
    def __class_getitem__(cls, item):
        return cls

    def reset(self, initial_state=None):
        pass

    def get_state(self):
        return {}

    state_dict = get_state

    def load_state_dict(self, state):
        pass


class IterableWrapper(BaseNode):
    def __init__(self, iterable):
        self.source = iterable

    def __iter__(self):
        return iter(self.source)


class SamplerWrapper(IterableWrapper):
    def __init__(self, sampler, initial_epoch=0, epoch_updater=None):
        self.source = sampler


class Mapper(BaseNode):
    def __init__(self, source, map_fn, *args, **options):
        self.source = source
        self.map_fn = map_fn

    def __iter__(self):
        for item in self.source:
            yield self.map_fn(item)


ParallelMapper = Mapper


class Batcher(BaseNode):
    def __init__(self, source, batch_size, drop_last=True):
        self.source = source
        self.batch_size = loader_built(batch_size)

    def __iter__(self):
        for item in self.source:
            yield [item] * self.batch_size


class _Through(BaseNode):
    """Hands on what it is given."""

    def __init__(self, source, *args, **options):
        self.source = source

    def __iter__(self):
        return iter(self.source)


PinMemory = Prefetcher = Cycler = _Through


class Loader(_Through):
    def __init__(self, root, restart_on_stop_iteration=True):
        self.source = root


class MultiNodeWeightedSampler(BaseNode):
    def __init__(self, source_nodes, weights, *args, **options):
        self.source_nodes = source_nodes

    def __iter__(self):
        while True:
            for node in self.source_nodes.values():
                yield next(iter(node))
