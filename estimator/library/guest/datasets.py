"""``datasets``: a table of which one row is known, as far as the script's own functions make it."""

from preflight_host import TEXT_OF_COLUMN, apart, classes_of, column_of, data_set_columns
from torch.utils.data import Dataset as TorchDataset

#: Rows that a function sees at once where it maps batches.
ROWS = 2


class Dataset(TorchDataset):
    """``columns`` holds the known values of one row; what is not there may still be a column of the data set that nobody here knows."""

    def __init__(self, columns=None, shown=None, tensors=False, length=100000):
        self.columns = columns if columns is not None else {}
        self.shown = shown
        self.tensors = tensors
        self.length = length

    @property
    def column_names(self):
        return list(self.columns) if self.columns else OpenColumns(["text"])

    @property
    def features(self):
        return Features({name: ClassLabel(column_of(self.columns, name)) for name in self.columns}, self.columns)

    @property
    def num_rows(self):
        return self.length

    def map(self, function=None, batched=False, remove_columns=None, with_indices=False, fn_kwargs=None, input_columns=None, **options):
        gone = [remove_columns] if isinstance(remove_columns, str) else remove_columns
        columns = self.columns
        if getattr(self, "transform", None) is not None:
            columns = {**columns, **self[0]}
        row = _Row(columns, ROWS if batched else 0)
        given = (row,)
        if input_columns is not None:
            names = [input_columns] if isinstance(input_columns, str) else input_columns
            given = tuple(row[name] for name in names)
        if with_indices:
            given = given + ((list(range(ROWS)) if batched else 0),)
        made = apart(function, *given, **(fn_kwargs if fn_kwargs is not None else {}))
        if made is None:
            made = row
        made = {name: (made[name][0] if batched and len(made[name]) else made[name]) for name in made.keys()}
        kept = {name: value for name, value in columns.items() if (gone is None or name not in gone) and name in row}
        return Dataset({**kept, **made}, self.shown, self.tensors)

    def set_format(self, type=None, columns=None, **options):
        self.shown = columns
        self.tensors = type in ("torch", "pt")

    def with_format(self, type=None, columns=None, **options):
        return Dataset(self.columns, columns, type in ("torch", "pt"))

    def set_transform(self, transform, columns=None, **options):
        self.shown = None
        self.transform = transform

    def with_transform(self, transform, columns=None, **options):
        made = Dataset(self.columns)
        made.transform = transform
        return made

    def remove_columns(self, names):
        gone = [names] if isinstance(names, str) else names
        return Dataset({name: value for name, value in self.columns.items() if name not in gone}, self.shown, self.tensors)

    def select_columns(self, names):
        kept = [names] if isinstance(names, str) else names
        return Dataset({name: column_of(self.columns, name) for name in kept}, self.shown, self.tensors)

    def rename_column(self, old, new):
        return Dataset({**{name: value for name, value in self.columns.items() if name != old}, new: column_of(self.columns, old)}, self.shown, self.tensors)

    def rename_columns(self, names):
        made = self
        for old, new in names.items():
            made = made.rename_column(old, new)
        return made

    def add_column(self, name, column, **options):
        return Dataset({**self.columns, name: column[0]}, self.shown, self.tensors)

    def cast_column(self, name, feature):
        return self

    def select(self, indices):
        return self

    def shuffle(self, *args, **options):
        return self

    def filter(self, *args, **options):
        return self

    def sort(self, *args, **options):
        return self

    def take(self, count):
        return self

    def skip(self, count):
        return self

    def shard(self, *args, **options):
        return self

    def unique(self, name):
        return [0, 1]

    def train_test_split(self, *args, **options):
        return DatasetDict({"train": self, "test": self})

    def __getitem__(self, key):
        if isinstance(key, str):
            value = column_of(self.columns, key)
            return [TEXT_OF_COLUMN if isinstance(value, str) else value] * 2
        names = self.shown if self.shown is not None else list(self.columns)
        row = _Row({name: column_of(self.columns, name) for name in names}, 0)
        if isinstance(key, (slice, list)):
            count = len(range(self.length)[key]) if isinstance(key, slice) else len(key)
            row = {name: [value] * count for name, value in row.items()}
        if getattr(self, "transform", None) is not None:
            batch = apart(self.transform, _Row(self.columns, 1))
            return {name: batch[name][0] for name in batch.keys()}
        return row

    def __iter__(self):
        while True:
            yield self[0]

    def __len__(self):
        return self.length


class OpenColumns(list):
    """Names of columns of which nobody here knows all: whatever a script asks for is taken to be there."""

    def __contains__(self, name):
        return True


class Features(dict):
    """What is known of the columns; any may be asked for."""

    def __init__(self, known, columns):
        super().__init__(known)
        self.columns = columns

    def __missing__(self, name):
        return ClassLabel(column_of(self.columns, name))


class ClassLabel:
    """What is known of a column: for labels, their classes."""

    dtype = "int64"
    sampling_rate = 48000

    def __init__(self, value=None, num_classes=None, names=None, **options):
        self.value = value
        self.given = num_classes if names is None else len(names)

    @property
    def num_classes(self):
        return classes_of(self.value) if self.given is None else self.given

    @property
    def feature(self):
        return self

    def __getitem__(self, name):
        """What is known of a part of a column that has several."""
        return ClassLabel(self.value[name][0]) if isinstance(self.value, dict) else ClassLabel(column_of({}, name))

    @property
    def names(self):
        return ["class " + str(index) for index in range(self.num_classes)]

    def int2str(self, index):
        return "class " + str(index)

    def str2int(self, name):
        return 0


class _Row(dict):
    """A row (or some rows) as a mapped function sees it: any column may be asked for."""

    def __init__(self, columns, rows):
        super().__init__({name: [value] * rows if rows else value for name, value in columns.items()})
        self.columns = columns
        self.rows = rows

    def __missing__(self, key):
        value = column_of(self.columns, key)
        return [value] * self.rows if self.rows else value


class DatasetDict(dict):
    """The splits of a data set, all alike."""

    def _each(self, change):
        return DatasetDict({name: change(part) for name, part in self.items()})

    def map(self, *args, **options):
        return self._each(lambda part: part.map(*args, **options))

    def filter(self, *args, **options):
        return self

    def shuffle(self, *args, **options):
        return self

    def remove_columns(self, names):
        return self._each(lambda part: part.remove_columns(names))

    def rename_column(self, old, new):
        return self._each(lambda part: part.rename_column(old, new))

    def set_format(self, *args, **options):
        for part in self.values():
            part.set_format(*args, **options)

    def with_format(self, *args, **options):
        return self._each(lambda part: part.with_format(*args, **options))

    def with_transform(self, *args, **options):
        return self._each(lambda part: part.with_transform(*args, **options))

    def set_transform(self, *args, **options):
        for part in self.values():
            part.set_transform(*args, **options)

    def rename_columns(self, names):
        return self._each(lambda part: part.rename_columns(names))

    def select_columns(self, names):
        return self._each(lambda part: part.select_columns(names))

    def train_test_split(self, *args, **options):
        return self

    def cast_column(self, *args, **options):
        return self

    @property
    def num_rows(self):
        return {name: part.num_rows for name, part in self.items()}

    @property
    def column_names(self):
        return {name: part.column_names for name, part in self.items()}

    def __missing__(self, key):
        return list(self.values())[0]


def load_dataset(path=None, name=None, split=None, **options):
    columns = data_set_columns(path, name)
    if split is None:
        return DatasetDict({part: Dataset(columns) for part in ("train", "validation", "test")})
    if isinstance(split, (list, tuple)):
        return [Dataset(columns) for _ in split]
    return Dataset(columns)


def load_from_disk(path, **options):
    return Dataset({})


def concatenate_datasets(parts, axis=0, **options):
    if axis == 0:
        return parts[0]
    return Dataset({name: value for part in parts for name, value in part.columns.items()}, parts[0].shown, parts[0].tensors)


def interleave_datasets(parts, **options):
    return parts[0]


class _Made:
    """Functions that make a table of the script's own values."""

    @staticmethod
    def from_dict(columns, **options):
        return Dataset({name: values[0] for name, values in columns.items()}, length=len(list(columns.values())[0]))

    @staticmethod
    def from_list(rows, **options):
        return Dataset(dict(rows[0]), length=len(rows))


Dataset.from_dict = _Made.from_dict
Dataset.from_list = _Made.from_list
Dataset.from_pandas = Dataset.from_generator = Dataset.from_file = load_from_disk
