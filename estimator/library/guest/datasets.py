"""``datasets``: a table of which one row is known, as far as the script's own functions make it."""

from preflight_host import row_of
from torch.utils.data import Dataset as TorchDataset


class Dataset(TorchDataset):
    def __init__(self, columns=None):
        self.columns = columns if columns is not None else {}
        self.shown = None

    def map(self, function=None, batched=False, remove_columns=None, **options):
        return Dataset({**self.columns, **row_of(function, self.columns, batched)})

    def set_format(self, type=None, columns=None, **options):
        self.shown = columns

    def with_format(self, type=None, columns=None, **options):
        self.shown = columns
        return self

    def remove_columns(self, names):
        gone = [names] if isinstance(names, str) else names
        return Dataset({name: value for name, value in self.columns.items() if name not in gone})

    def rename_column(self, old, new):
        return Dataset({new if name == old else name: value for name, value in self.columns.items()})

    def select(self, indices):
        return self

    def shuffle(self, **options):
        return self

    def filter(self, *args, **options):
        return self

    def train_test_split(self, *args, **options):
        return {"train": self, "test": self}

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.columns.get(key, self)
        names = self.shown if self.shown is not None else list(self.columns)
        return {name: self.columns[name] for name in names}

    def __len__(self):
        return 100000


def load_dataset(*args, **options):
    if options.get("split") is None:
        return {"train": Dataset(), "validation": Dataset(), "test": Dataset()}
    return Dataset()


load_from_disk = load_dataset
