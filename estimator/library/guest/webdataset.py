"""``webdataset``: samples of tar files go through the script's own stages; of a file in a tar the kind is known by its ending."""

from preflight_host import column_of
from torch.utils.data import default_collate

#: Endings of files by the column of a table that they are like.
LIKE = {"jpg": "image", "jpeg": "image", "png": "image", "webp": "image", "ppm": "image", "cls": "label"}
#: Samples that a stream is taken to have where nobody says.
MANY = 100000


class Sample:
    """The files of one sample by their ending; whatever a stage asks for is taken to be there."""

    def __init__(self, files=None):
        self.files = {} if files is None else dict(files)

    def __getitem__(self, name):
        return self.files[name] if name in self.files else column_of({}, LIKE.get(name, name))

    def __setitem__(self, name, value):
        self.files[name] = value

    def __contains__(self, name):
        return True

    def get(self, name, default=None):
        return self[name]

    def keys(self):
        return list(self.files)

    def items(self):
        return list(self.files.items())


class Stage:
    """A stage that makes one sample of another."""

    def __init__(self, of_sample):
        self.of_sample = of_sample


def decode(*args, **options):
    return Stage(same)


def same(sample):
    return sample


shuffle = select = detshuffle = split_by_worker = split_by_node = tarfile_to_samples = cached_tarfile_to_samples = decode


def renamed(sample, files):
    return Sample({**dict(sample.items()), **files})


def rename(handler=None, keep=True, **names):
    return Stage(lambda sample: renamed(sample, {new: sample[old.split(";")[0]] for new, old in names.items()}))


def map(function, handler=None):
    return Stage(lambda sample: function(sample))


def map_dict(handler=None, **functions):
    return Stage(lambda sample: renamed(sample, {name: function(sample[name]) for name, function in functions.items()}))


def map_tuple(*functions, handler=None):
    return Stage(lambda sample: tuple(function(part) for function, part in zip(functions, sample)))


def to_tuple(*names, handler=None, **options):
    wanted = names[0].split() if len(names) == 1 else names
    return Stage(lambda sample: tuple(sample[name.split(";")[0]] for name in wanted))


def batched(batchsize=16, collation_fn=None, partial=True):
    collate = collation_fn if collation_fn is not None else collated
    return Stage(lambda sample: collate([sample] * batchsize))


def collated(samples):
    """The library's own way: the first entries of all samples, the second ones, and so on."""
    return tuple(default_collate([sample[place] for sample in samples]) for place in range(len(samples[0])))


class ResampledShards:
    def __init__(self, urls=None, **options):
        self.urls = urls


SimpleShardList = PytorchShardList = MultiShardSample = ResampledShards


class DataPipeline:
    """What comes before the first stage of the library reads the shards, in whichever way; a later function makes a stream of a stream."""

    def __init__(self, *stages):
        self.stages = list(stages)
        self.length = MANY

    def with_epoch(self, nsamples=-1, nbatches=-1):
        self.length = max(nsamples, nbatches)
        return self

    with_length = with_epoch

    def repeat(self, *args, **options):
        return self

    def sample(self):
        made, reading = Sample(), True
        for stage in self.stages:
            if isinstance(stage, Stage):
                made, reading = stage.of_sample(made), False
            elif not reading:
                made = next(iter(stage(iter([made]))))
        return made

    def __iter__(self):
        for _ in range(self.length):
            yield self.sample()

    def __len__(self):
        return self.length

    def then(self, stage):
        self.stages = [*self.stages, stage]
        return self


class WebDataset(DataPipeline):
    """The stages as methods."""

    def __init__(self, urls, **options):
        super().__init__(Stage(same))

    def shuffle(self, *args, **options):
        return self

    decode = shuffle

    def rename(self, **names):
        return self.then(rename(**names))

    def map(self, function, **options):
        return self.then(map(function))

    def map_dict(self, **functions):
        return self.then(map_dict(**functions))

    def map_tuple(self, *functions, **options):
        return self.then(map_tuple(*functions))

    def to_tuple(self, *names, **options):
        return self.then(to_tuple(*names))

    def batched(self, *args, **options):
        return self.then(batched(*args, **options))


class WebLoader(WebDataset):
    """A loader of batches: of what the data set gives, where that is batched already."""

    def __init__(self, dataset, batch_size=None, collate_fn=None, **options):
        super().__init__(None)
        self.dataset = dataset
        self.stages = [] if batch_size is None else [batched(batch_size, collate_fn)]

    def sample(self):
        made = self.dataset.sample() if isinstance(self.dataset, DataPipeline) else next(iter(self.dataset))
        for stage in self.stages:
            made = stage.of_sample(made)
        return made
