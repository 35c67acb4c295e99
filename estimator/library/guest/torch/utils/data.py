"""``torch.utils.data``: what a loader hands out, of which one sample and the batch size tell everything."""

import torch
from preflight_host import batched, loader_built

#: Batches handed out in one pass: more than any window of accumulation has.
BATCHES = 64


class Dataset:
    def __class_getitem__(cls, item):
        return cls

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    pass


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[0] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        return self.dataset[0]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __getitem__(self, index):
        return self.datasets[0][0]

    def __len__(self):
        return sum(len(dataset) for dataset in self.datasets)


ChainDataset = ConcatDataset


def random_split(dataset, lengths, generator=None):
    return [Subset(dataset, range(length) if isinstance(length, int) else range(len(dataset))) for length in lengths]


class Sampler:
    def __init__(self, data_source=None, *args, **others):
        self.data_source = data_source

    def __class_getitem__(cls, item):
        return cls

    def set_epoch(self, epoch):
        pass

    def __iter__(self):
        return iter([0, 0, 0, 0])

    def __len__(self):
        return len(self.data_source)


class SequentialSampler(Sampler):
    pass


class RandomSampler(Sampler):
    pass


class SubsetRandomSampler(Sampler):
    pass


class WeightedRandomSampler(Sampler):
    pass


class DistributedSampler(Sampler):
    pass


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last=False):
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last


class DataLoader:
    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, **others
    ):
        self.dataset = dataset
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if batch_sampler is None:
            self.batch_size = loader_built(batch_size)
        else:
            self.batch_size = getattr(batch_sampler, "batch_size", None)
        self.collate_fn = collate_fn
        self.num_workers = num_workers
        self.drop_last = drop_last

    def __class_getitem__(cls, item):
        return cls

    def __len__(self):
        samples = len(self.dataset)
        return samples // self.batch_size if self.batch_size else samples

    def __iter__(self):
        if isinstance(self.dataset, IterableDataset):
            samples = iter(self.dataset)
            for _ in range(BATCHES):
                yield self.batch(next(samples))
            return
        for _ in range(BATCHES):
            yield self.batch(self.sample())

    def sample(self):
        if self.batch_sampler is not None and self.batch_size is None:
            return [self.dataset[index] for index in next(iter(self.batch_sampler))]
        return self.dataset[0]

    def batch(self, sample):
        if self.batch_sampler is not None and self.batch_size is None:
            return self.collate_fn(sample) if self.collate_fn is not None else default_collate(sample)
        if self.batch_size is None:
            return self.collate_fn(sample) if self.collate_fn is not None else sample
        if self.collate_fn is not None:
            return self.collate_fn([sample] * self.batch_size)
        return batched(sample, self.batch_size)


def default_collate(samples):
    return batched(samples[0], len(samples))


def get_worker_info():
    return None
