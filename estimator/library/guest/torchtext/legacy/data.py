"""``torchtext.legacy.data``: what a column becomes in a batch, and batches of columns."""

import torch
from preflight_host import OPEN, Tokens, loader_built, tokens_as_tensor
from torchtext.vocab import words

BATCHES = 64


class Vocabulary:
    """The words of a column, or its ``labels``."""

    def __init__(self, labels=None):
        self.labels = labels
        self.vectors = None
        self.stoi = {}
        self.itos = []

    def __len__(self):
        return words() if self.labels is None else self.labels

    def load_vectors(self, vectors, **options):
        name = vectors[0] if isinstance(vectors, (list, tuple)) else vectors
        width = int(name.rpartition(".")[2].removesuffix("d")) if isinstance(name, str) else name.dim
        self.vectors = torch.zeros(len(self), width)


class Field:
    """A column: words one after another, or (not ``sequential``) one of so many labels."""

    def __init__(
        self, sequential=True, use_vocab=True, init_token=None, eos_token=None, fix_length=None, dtype=torch.long, include_lengths=False, batch_first=False,
        pad_token="<pad>", unk_token="<unk>", is_target=False, **options,
    ):  # fmt: skip
        self.sequential = sequential
        self.fix_length = fix_length
        self.dtype = dtype
        self.include_lengths = include_lengths
        self.batch_first = batch_first
        self.pad_token = pad_token if sequential else None
        self.unk_token = unk_token
        self.vocab = None

    def build_vocab(self, *datasets, vectors=None, **options):
        counts = [each.labels for each in datasets if isinstance(each, Columns)]
        self.vocab = Vocabulary(None if self.sequential else (counts[0] if counts else 2) + (self.unk_token is not None))
        if vectors is not None:
            self.vocab.load_vectors(vectors)

    def numbers(self, batch_size, device):
        if not self.sequential:
            return torch.zeros(batch_size, dtype=self.dtype, device=device)
        row = Tokens(OPEN, "the length of the texts is not known: texts of this many tokens are taken") if self.fix_length is None else Tokens(self.fix_length)
        text = torch.cat([tokens_as_tensor(row, 1)] * batch_size).to(device)
        text = text if self.batch_first else text.t().contiguous()
        return (text, torch.zeros(batch_size, dtype=torch.long, device=device)) if self.include_lengths else text


class LabelField(Field):
    def __init__(self, **options):
        super().__init__(**{"sequential": False, "unk_token": None, "is_target": True, **options})


class Columns:
    """A data set: its fields by name."""

    labels = 2
    length = 100000

    def __init__(self, fields):
        self.fields = fields

    def __len__(self):
        return self.length

    def split(self, split_ratio=0.7, **options):
        return tuple([self] * (len(split_ratio) if isinstance(split_ratio, (list, tuple)) else 2))


class TabularDataset(Columns):
    def __init__(self, path, format, fields, **options):
        pairs = fields.values() if isinstance(fields, dict) else fields
        super().__init__({name: field for name, field in pairs if field is not None})

    @classmethod
    def splits(cls, path=None, root=".data", train=None, validation=None, test=None, format="csv", fields=(), **options):
        return tuple([cls(path, format, fields) for part in (train, validation, test) if part is not None])


class Batch:
    def __init__(self, dataset, batch_size, device):
        self.batch_size = batch_size
        self.dataset = dataset
        for name, field in dataset.fields.items():
            setattr(self, name, field.numbers(batch_size, device))

    def __len__(self):
        return self.batch_size


class Iterator:
    def __init__(self, dataset, batch_size, device=None, **options):
        self.dataset = dataset
        self.batch_size = loader_built(batch_size)
        self.device = device if device is not None else "cpu"

    @classmethod
    def splits(cls, datasets, batch_sizes=None, batch_size=None, **options):
        sizes = batch_sizes if batch_sizes is not None else [batch_size] * len(datasets)
        return tuple([cls(dataset, batch_size=size, **options) for dataset, size in zip(datasets, sizes)])

    def init_epoch(self):
        pass

    def __len__(self):
        return len(self.dataset) // self.batch_size

    def __iter__(self):
        for _ in range(BATCHES):
            yield Batch(self.dataset, self.batch_size, self.device)


BucketIterator = Iterator
